#include "hearth/tasks/text_classification/run_classification.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/sampler.h"
#include "hearth/tasks/common/name_list.h"
#include "hearth/tasks/text_classification/own_files.h"
#include "hearth/tasks/text_classification/problem.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;

// A cross-encoder reads pairs whose labels are numbers.
void check_scored_pairs(TextData& data) {
  const auto check_texts = [](TextSource& texts) {
    check(texts.has_pairs(),
          "{}: --cross_encoder needs pairs of texts; name their columns with --text_column_names and "
          "--text_pair_column_names",
          texts.file());
    if (!texts.has_labels()) return;
    const data::ColumnKind kind = texts.label_kind();
    check(kind == data::ColumnKind::number || kind == data::ColumnKind::integer || kind == data::ColumnKind::boolean,
          "{}: the labels are {}, but --cross_encoder learns scores between 0 and 1", texts.file(),
          data::plural_of(kind));
  };
  if (data.train) check_texts(*data.train);
  for (TextSource& texts : data.evaluation) check_texts(texts);
  for (TextSource& texts : data.prediction) check_texts(texts);
}

// By letters, unless the file declares their order.
std::vector<std::string> in_order(TextSource& texts) {
  std::vector<std::string> names = texts.label_names();
  if (!texts.declares_labels()) std::ranges::sort(names);
  return names;
}

}  // namespace

TextData RunClassification::read(const TaskSetting& setting) const {
  const bool has_labels = setting.training.do_train || setting.training.do_eval;
  const auto choose = [&](const data::Table& table) {
    if (has_labels) table.at(label_column());
    return columns_of(table);
  };
  const std::vector<std::string> removed = names_in(args_.remove_columns.value_or(""));
  const bool removes_label = std::ranges::find(removed, label_column()) != removed.end();
  TextData data =
      read_own_files(args_, setting.training, choose, removes_label ? LabelsIn::nowhere : LabelsIn::optional);
  if (args_.cross_encoder) check_scored_pairs(data);
  if (setting.team.is_first() && setting.training.do_eval && args_.validation_file == args_.test_file)
    log_info("without --validation_file, --test_file is evaluated");
  data.problem = problem_in(data, setting);
  if (data.train && !data.problem.is_regression())
    for (TextSource& texts : data.evaluation) check_same_kind(*data.train, texts);
  data.metrics = metrics_of(data.problem);
  if (data.train && args_.shuffle_train_dataset) {
    data.train_order = data::shuffled_order(data.train->size(), args_.shuffle_seed, 0);
    if (args_.max_train_samples && *args_.max_train_samples < std::ssize(data.train_order))
      data.train_order.resize(static_cast<std::size_t>(*args_.max_train_samples));
  } else if (data.train) {
    data.train->keep_first(args_.max_train_samples);
  }
  for (TextSource& texts : data.evaluation) texts.keep_first(args_.max_eval_samples);
  for (TextSource& texts : data.prediction) texts.keep_first(args_.max_predict_samples);
  return data;
}

TextColumns RunClassification::columns_of(const data::Table& table) const {
  const std::vector<std::string> removed = names_in(args_.remove_columns.value_or(""));
  for (const std::string& name : removed) table.at(name);
  if (!args_.text_column_names && args_.cross_encoder) return pair_columns(table, label_column(), removed);
  if (!args_.text_column_names) return sentence_column(table, label_column(), removed);
  TextColumns columns{names_in(*args_.text_column_names), names_in(args_.text_pair_column_names.value_or("")),
                      args_.text_column_delimiter, label_column()};
  for (const auto* names : {&columns.first, &columns.second})
    for (const std::string& name : *names) {
      table.at(name);
      check(std::ranges::find(removed, name) == removed.end(),
            "--remove_columns removes {}, which --text_column_names needs; leave it out of one of them", name);
    }
  return columns;
}

TextProblem RunClassification::problem_in(TextData& data, const TaskSetting& setting) const {
  if (args_.cross_encoder) return {ProblemType::regression, {}, true};
  TextSource* labelled = data.labelled();
  std::optional<data::ColumnKind> labels;
  if (labelled != nullptr) labels = labelled->label_kind();
  const bool is_regression = args_.do_regression.value_or(labels && problem_of(*labels) == ProblemType::regression);
  if (!data.train) {
    std::vector<std::string> names;
    if (labelled != nullptr && !is_regression) names = in_order(*labelled);
    return problem_of_model(setting.config, labels, std::move(names));
  }
  if (is_regression) return {ProblemType::regression};
  const bool several = problem_of(*labels) == ProblemType::multi_label_classification;
  return {several ? ProblemType::multi_label_classification : ProblemType::single_label_classification,
          learned_labels(all_labels(data, setting.team.is_first()), setting.config, setting.team.is_first())};
}

// As run_classification.py: the labels of all files, as strings. Those that the training file declares keep their
// order.
std::vector<std::string> RunClassification::all_labels(TextData& data, bool warns) const {
  const std::vector<std::string> trained = data.train->occurring_labels();
  check_several(trained, data.train->file());
  std::vector<std::string> all = in_order(*data.train);
  const std::size_t declared = data.train->declares_labels() ? all.size() : 0;
  const auto add = [&](TextSource& texts, bool is_test) {
    if (!texts.has_labels() || problem_of(texts.label_kind()) != problem_of(data.train->label_kind())) return;
    for (std::string& name : texts.occurring_labels(is_test))
      if (std::ranges::find(all, name) == all.end()) all.push_back(std::move(name));
  };
  for (TextSource& texts : data.evaluation) add(texts, false);
  for (TextSource& texts : data.prediction) add(texts, true);
  std::sort(all.begin() + static_cast<std::ptrdiff_t>(declared), all.end());
  std::vector<std::string> unseen;
  for (const std::string& name : all)
    if (std::ranges::find(trained, name) == trained.end()) unseen.push_back(name);
  if (warns && !unseen.empty())
    log_warning("labels that other files have, but not {}, cannot be learned: {}", data.train->file(),
                fmt::join(unseen, ", "));
  return all;
}

TextMetrics RunClassification::metrics_of(const TextProblem& problem) const {
  TextMetrics metrics{names_in(args_.metric_name.value_or(usual_metric(problem)))};
  for (const std::string& name : metrics.names) check_metric(name, problem);
  return metrics;
}

}  // namespace hearth::tasks
