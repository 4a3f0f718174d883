#include "hearth/tasks/text_classification/own_files.h"

#include "hearth/data/table.h"

namespace hearth::tasks {

TextData read_own_files(const TextArguments& arguments, const TrainingArguments& training,
                        const std::function<TextColumns(const data::Table&)>& choose, LabelsIn test_labels) {
  TextData data;
  std::optional<TextColumns> columns;
  std::string reference;
  const auto read = [&](const std::string& file, LabelsIn labels) {
    const data::Table table = data::read_table(file);
    if (!columns) {
      columns = choose(table);
      reference = file;
    }
    check_same_columns(table, *columns, reference);
    TextRows rows = text_rows(table, *columns, labels);
    if (rows.labels) rows.labels = with_parsed_lists(std::move(*rows.labels), file);
    return rows;
  };
  if (training.do_train) data.train = read(*arguments.train_file, LabelsIn::required);
  if (training.do_eval) data.evaluation.push_back(read(*arguments.validation_file, LabelsIn::required));
  if (training.do_predict) data.prediction.push_back(read(*arguments.test_file, test_labels));
  return data;
}

}  // namespace hearth::tasks
