#include "hearth/tasks/text_classification/run_glue.h"

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/tasks/text_classification/glue_texts.h"
#include "hearth/tasks/text_classification/own_files.h"
#include "hearth/tasks/text_classification/problem.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;

constexpr const char *kMismatchedValidation = "validation_mismatched", *kMismatchedTest = "test_mismatched";

TextProblem glue_problem(const data::GlueTask& task, const TaskSetting& setting) {
  if (task.is_regression()) return {ProblemType::regression};
  return {ProblemType::single_label_classification,
          learned_labels(task.labels, setting.config, setting.team.is_first())};
}

void check_one_label_per_text(TextSource& texts) {
  check(problem_of(texts.label_kind()) != ProblemType::multi_label_classification,
        "{}: the column \"label\" has {}; hearth run_classification learns several labels per text", texts.file(),
        data::plural_of(texts.label_kind()));
}

TextProblem own_problem(TextData& data, const TaskSetting& setting) {
  TextSource* labelled = data.labelled();
  if (labelled == nullptr) return problem_of_model(setting.config, std::nullopt, {});
  check_one_label_per_text(*labelled);
  const bool is_regression = problem_of(labelled->label_kind()) == ProblemType::regression;
  std::vector<std::string> names = is_regression ? std::vector<std::string>() : labelled->label_names();
  if (!data.train) return problem_of_model(setting.config, labelled->label_kind(), std::move(names));
  if (is_regression) return {ProblemType::regression};
  check_several(labelled->occurring_labels(), labelled->file());
  return {ProblemType::single_label_classification,
          learned_labels(std::move(names), setting.config, setting.team.is_first())};
}

}  // namespace

std::optional<DatasetRequest> RunGlue::dataset(const TrainingArguments& training) {
  std::optional<DatasetRequest> request = Task::dataset(training);
  if (request && args_.is_mnli()) {
    if (training.do_eval) request->splits.emplace_back(kMismatchedValidation);
    if (training.do_predict) request->splits.emplace_back(kMismatchedTest);
  }
  return request;
}

void RunGlue::take_files(const hub::DatasetFiles& files, const TrainingArguments& training) {
  Task::take_files(files, training);
  if (!args_.is_mnli()) return;
  const std::string& name = *args_.dataset_name;
  if (training.do_eval)
    args_.validation_mismatched_file = files_of_split(files, name, kMismatchedValidation, "--do_eval");
  if (training.do_predict) args_.test_mismatched_file = files_of_split(files, name, kMismatchedTest, "--do_predict");
}

TextData RunGlue::read(const TaskSetting& setting) const {
  TextData data = args_.task_name ? read_glue(setting, data::glue_task(*args_.task_name)) : read_own(setting);
  if (data.train) data.train->keep_first(args_.max_train_samples);
  for (TextSource& texts : data.evaluation) texts.keep_first(args_.max_eval_samples);
  for (TextSource& texts : data.prediction) texts.keep_first(args_.max_predict_samples);
  return data;
}

TextData RunGlue::read_glue(const TaskSetting& setting, const data::GlueTask& task) const {
  const TrainingArguments& training = setting.training;
  const bool logs = setting.team.is_first();
  TextData data;
  const auto open = [&](const std::vector<std::string>& names, LabelsIn labels) {
    const auto left_out = std::make_shared<data::GlueLeftOut>();
    TextSource texts = glue_texts(data::files_of(names), task, labels, left_out);
    texts.size();  // counts
    if (logs) log_left_out(texts.file(), *left_out);
    return texts;
  };
  const auto add = [&](std::vector<TextSource>& to, const std::vector<std::string>& names, LabelsIn labels) {
    if (!names.empty()) to.push_back(open(names, labels));
  };
  if (training.do_train) {
    data.train = open(args_.train_file, LabelsIn::required);
    if (!task.is_regression()) check_several(data.train->occurring_labels(), data.train->file());
  }
  if (training.do_eval) {
    add(data.evaluation, args_.validation_file, LabelsIn::required);
    add(data.evaluation, args_.validation_mismatched_file, LabelsIn::required);
    if (logs && task.name == "mnli" && data.evaluation.size() == 1)
      log_info("only the matched texts of mnli are evaluated; --validation_mismatched_file names the others");
  }
  if (training.do_predict) {
    add(data.prediction, args_.test_file, LabelsIn::nowhere);
    add(data.prediction, args_.test_mismatched_file, LabelsIn::nowhere);
  }
  data.problem = glue_problem(task, setting);
  data.metrics = {task.metrics, true, task.labels.size() == 2 ? task.labels[1] : ""};
  return data;
}

TextData RunGlue::read_own(const TaskSetting& setting) const {
  TextData data = read_own_files(args_, setting.training, glue_columns, LabelsIn::nowhere);
  data.problem = own_problem(data, setting);
  if (data.train && !data.problem.is_regression())
    for (TextSource& texts : data.evaluation) check_same_kind(*data.train, texts);
  data.metrics = {{usual_metric(data.problem)}};
  return data;
}

std::optional<std::string> RunGlue::finetuning_task() const {
  return args_.task_name ? std::optional(data::glue_task(*args_.task_name).name) : std::nullopt;
}

std::string RunGlue::prediction_file(std::size_t set) const {
  return fmt::format("predict_results_{}{}.txt", finetuning_task().value_or("None"), set == 0 ? "" : "-mm");
}

}  // namespace hearth::tasks
