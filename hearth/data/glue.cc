#include "hearth/data/glue.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"

namespace hearth::data {
namespace {

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '-' && c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

std::vector<GlueTask> all_tasks() {
  const GlueColumns sentence{"sentence", "", "label"}, sentences{"sentence1", "sentence2", "label"},
      mrpc{"#1 String", "#2 String", "Quality"}, stsb{"sentence1", "sentence2", "score"},
      questions{"question1", "question2", "label"}, qqp{"question1", "question2", "is_duplicate"},
      premise{"premise", "hypothesis", "label"}, mnli{"sentence1", "sentence2", "gold_label"},
      question{"question", "sentence", "label"};
  const std::vector<std::string> accuracy{"accuracy"}, accuracy_and_f1{"accuracy", "f1"},
      entailment{"entailment", "not_entailment"};
  return {{"cola", sentence, sentence, {"unacceptable", "acceptable"}, {"matthews_correlation"}},
          {"sst2", sentence, sentence, {"negative", "positive"}, accuracy},
          {"mrpc", sentences, mrpc, {"not_equivalent", "equivalent"}, accuracy_and_f1},
          {"stsb", sentences, stsb, {}, {"pearson", "spearmanr"}},
          {"qqp", questions, qqp, {"not_duplicate", "duplicate"}, accuracy_and_f1},
          {"mnli", premise, mnli, {"entailment", "neutral", "contradiction"}, accuracy},
          {"qnli", question, question, entailment, accuracy},
          {"rte", sentences, sentences, entailment, accuracy},
          {"wnli", sentences, sentences, {"not_entailment", "entailment"}, accuracy}};
}

}  // namespace

std::span<const GlueTask> glue_tasks() {
  static const std::vector<GlueTask> tasks = all_tasks();
  return tasks;
}

const GlueTask& glue_task(std::string_view name) {
  const std::span<const GlueTask> tasks = glue_tasks();
  const auto found = std::ranges::find(tasks, plain(name), &GlueTask::name);
  if (found != tasks.end()) return *found;
  std::vector<std::string> names;
  for (const GlueTask& task : tasks) names.push_back(task.name);
  fail("{} is not a task of GLUE; the tasks are {}{}", name, fmt::join(names, ", "),
       did_you_mean(nearest_name(name, names)));
}

}  // namespace hearth::data
