#include "hearth/tasks/text_classification/own_files.h"

#include "hearth/base/check.h"

namespace hearth::tasks {

TextData read_own_files(const TextArguments& arguments, const TrainingArguments& training,
                        const std::function<TextColumns(const data::Table&)>& choose, LabelsIn test_labels) {
  TextData data;
  std::optional<TextColumns> columns;
  std::string reference;
  const auto open = [&](const std::vector<std::string>& names, LabelsIn labels) {
    auto reader = std::make_shared<data::TableReader>(data::files_of(names));
    check(reader->rows() > 0, "{} holds no records", reader->name());  // columns of no records have no kinds
    const data::Table outline = reader->outline();
    if (!columns) {
      columns = choose(outline);
      reference = outline.file();
    }
    check_same_columns(outline, *columns, reference);
    return TextSource(std::move(reader), *columns, labels);
  };
  if (training.do_train) data.train = open(arguments.train_file, LabelsIn::required);
  if (training.do_eval) data.evaluation.push_back(open(arguments.validation_file, LabelsIn::required));
  if (training.do_predict) data.prediction.push_back(open(arguments.test_file, test_labels));
  return data;
}

}  // namespace hearth::tasks
