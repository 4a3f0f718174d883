#include "hearth/tasks/token_classification/arguments.h"

#include <algorithm>
#include <cctype>

#include "hearth/data/conll.h"
#include "hearth/tasks/token_classification/entity_metrics.h"

namespace hearth::tasks {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

void declare(Arguments& options, TokenArguments& arguments) {
  options.section("Token classification");
  declare_files(options, arguments, "sentences", data::token_table_endings());
  options.add("task_name", &arguments.task_name, "name of the task: tags are read from the column NAME_tags");
  options.add("text_column_name", &arguments.text_column_name, "column of the words; otherwise tokens, or the first");
  options.add("label_column_name", &arguments.label_column_name,
              "column of the tags; otherwise TASK_NAME_tags, or the second");
  options
      .add("max_seq_length", &arguments.max_seq_length,
           "maximum tokens per sentence; otherwise as many as tokenizer and model allow")
      .at_least(1);
  options.add("label_all_tokens", &arguments.label_all_tokens,
              "label every token of a word, not only the first; tokens after the first get I-X instead of B-X");
  options.add("return_entity_level_metrics", &arguments.return_entity_level_metrics,
              "report the metrics of each type of entity, too");
  declare_samples(options, arguments, "sentences");
  options.ignored_switches({"overwrite_cache"}, "the tokens of this task are not cached");
}

void TokenArguments::validate(const TrainingArguments& training) const {
  Arguments options;
  TokenArguments copy = *this;
  declare(options, copy);
  options.check_values();
  check_files(*this, training);
  if (!return_entity_level_metrics) check_best_metric(training, entity_metric_names({}, false));
}

TokenColumns TokenArguments::columns() const {
  return {text_column_name, label_column_name, lower(task_name) + "_tags"};
}

}  // namespace hearth::tasks
