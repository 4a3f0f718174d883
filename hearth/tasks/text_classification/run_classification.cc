#include "hearth/tasks/text_classification/run_classification.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/sampler.h"
#include "hearth/tasks/text_classification/own_files.h"
#include "hearth/tasks/text_classification/problem.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;

// A cross-encoder reads pairs whose labels are numbers.
void check_scored_pairs(const TextData& data) {
  const auto check_rows = [](const TextRows& rows) {
    check(!rows.second.empty(),
          "{}: --cross_encoder needs pairs of texts; name their columns with --text_column_names and "
          "--text_pair_column_names",
          rows.file);
    const auto kind = rows.labels ? rows.labels->kind() : data::ColumnKind::number;
    check(kind == data::ColumnKind::number || kind == data::ColumnKind::integer || kind == data::ColumnKind::boolean,
          "{}: the labels are {}, but --cross_encoder learns scores between 0 and 1", rows.file, data::plural_of(kind));
  };
  if (data.train) check_rows(*data.train);
  for (const TextRows& rows : data.evaluation) check_rows(rows);
  for (const TextRows& rows : data.prediction) check_rows(rows);
}

}  // namespace

TextData RunClassification::read(const TaskSetting& setting) const {
  const bool has_labels = setting.training.do_train || setting.training.do_eval;
  const auto choose = [&](const data::Table& table) {
    if (has_labels) table.at(label_column());
    return columns_of(table);
  };
  TextData data = read_own_files(args_, setting.training, choose, LabelsIn::optional);
  if (args_.cross_encoder) check_scored_pairs(data);
  if (setting.team.is_first() && setting.training.do_eval && args_.validation_file == args_.test_file)
    log_info("without --validation_file, --test_file is evaluated");
  data.problem = problem_in(data, setting);
  if (data.train && !data.problem.is_regression())
    for (const TextRows& rows : data.evaluation) check_same_kind(*data.train, rows);
  data.metrics = metrics_of(data.problem);
  if (data.train && args_.shuffle_train_dataset)
    data.train->take(data::shuffled_order(data.train->size(), args_.shuffle_seed, 0));
  if (data.train) data.train->keep_first(args_.max_train_samples);
  for (TextRows& rows : data.evaluation) rows.keep_first(args_.max_eval_samples);
  for (TextRows& rows : data.prediction) rows.keep_first(args_.max_predict_samples);
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

TextProblem RunClassification::problem_in(const TextData& data, const TaskSetting& setting) const {
  const TextRows* labelled = data.train ? &*data.train : data.evaluation.empty() ? nullptr : &data.evaluation.front();
  const data::Column* labels = labelled == nullptr ? nullptr : &*labelled->labels;
  if (args_.cross_encoder) return {ProblemType::regression, {}, true};
  const bool is_regression = args_.do_regression.value_or(labels && problem_of(*labels) == ProblemType::regression);
  if (!data.train) {
    std::vector<std::string> names;
    if (labels != nullptr && !is_regression) names = distinct_labels(*labels);
    std::ranges::sort(names);
    return problem_of_model(setting.config, labels, std::move(names));
  }
  if (is_regression) return {ProblemType::regression};
  const bool several = problem_of(*labels) == ProblemType::multi_label_classification;
  return {several ? ProblemType::multi_label_classification : ProblemType::single_label_classification,
          learned_labels(all_labels(data, setting.team.is_first()), setting.config, setting.team.is_first())};
}

// As run_classification.py: the labels of all files, as strings.
std::vector<std::string> RunClassification::all_labels(const TextData& data, bool warns) const {
  const std::vector<std::string> trained = distinct_labels(*data.train->labels);
  check_several(trained, data.train->file);
  std::set<std::string> all(trained.begin(), trained.end());
  const auto add = [&](const TextRows& rows, bool is_test) {
    if (!rows.labels || problem_of(*rows.labels) != problem_of(*data.train->labels)) return;
    for (const std::string& name : distinct_labels(*rows.labels, is_test)) all.insert(name);
  };
  for (const TextRows& rows : data.evaluation) add(rows, false);
  for (const TextRows& rows : data.prediction) add(rows, true);
  std::vector<std::string> unseen;
  for (const std::string& name : all)
    if (std::ranges::find(trained, name) == trained.end()) unseen.push_back(name);
  if (warns && !unseen.empty())
    log_warning("labels that other files have, but not {}, cannot be learned: {}", data.train->file,
                fmt::join(unseen, ", "));
  return {all.begin(), all.end()};
}

TextMetrics RunClassification::metrics_of(const TextProblem& problem) const {
  TextMetrics metrics{names_in(args_.metric_name.value_or(usual_metric(problem)))};
  for (const std::string& name : metrics.names) check_metric(name, problem);
  return metrics;
}

}  // namespace hearth::tasks
