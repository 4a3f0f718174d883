#include "hearth/tasks/text_classification/glue_texts.h"

#include "hearth/base/log.h"

namespace hearth::tasks {

TextSource glue_texts(const data::Files& files, const data::GlueTask& task, LabelsIn labels,
                      std::shared_ptr<data::GlueLeftOut> left_out) {
  const auto kept = labels == LabelsIn::required ? data::GlueLabels::required : data::GlueLabels::ignored;
  auto reader = std::make_shared<data::TableReader>(
      data::name_of(files), [=, &task] { return data::open_glue(files, task, kept, left_out); });
  TextColumns columns{{task.columns.a}, {}, " ", task.columns.label};
  if (task.has_pairs()) columns.second = {task.columns.b};
  return {std::move(reader), std::move(columns), labels};
}

void log_left_out(const std::string& file, const data::GlueLeftOut& left_out) {
  if (left_out.cut_rows > 0) log_warning("{}: {} rows have too few fields and are left out", file, left_out.cut_rows);
  if (left_out.undecided_rows > 0)
    log_info("{}: {} rows without a gold label are left out", file, left_out.undecided_rows);
}

}  // namespace hearth::tasks
