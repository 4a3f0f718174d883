#include "hearth/tasks/text_classification/problem.h"

#include <fmt/ranges.h>

#include "hearth/base/check.h"
#include "hearth/base/log.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;

ProblemType type_of_model(const models::Config& config, std::optional<data::ColumnKind> labels) {
  if (const auto type = config.problem_type()) return *type;
  if (config.num_labels() == 1) return ProblemType::regression;
  const bool has_lists = labels && problem_of(*labels) == ProblemType::multi_label_classification;
  return has_lists ? ProblemType::multi_label_classification : ProblemType::single_label_classification;
}

}  // namespace

void check_several(const std::vector<std::string>& names, const std::string& file) {
  check(!names.empty(), "{} has no labels in any record; training needs records of at least two labels", file);
  check(names.size() != 1, "{} has only one label, '{}'; training needs records of at least two labels", file,
        names.front());
}

LabelMap learned_labels(std::vector<std::string> names, const models::Config& config, bool warns) {
  LabelMap labels = in_order_of_model(names, config);
  if (warns && config.has_label_names() && labels.names() == names && config.label_names() != names)
    log_warning("the model was trained with other labels: {}; the new ones are {}",
                fmt::join(config.label_names(), ", "), fmt::join(names, ", "));
  return labels;
}

TextProblem problem_of_model(const models::Config& config, std::optional<data::ColumnKind> labels,
                             std::vector<std::string> names) {
  TextProblem problem{type_of_model(config, labels)};
  if (problem.is_regression()) return problem;
  const bool takes_names = !config.has_label_names() && std::ssize(names) == config.num_labels();
  problem.labels = LabelMap(takes_names ? std::move(names) : config.label_names());
  return problem;
}

}  // namespace hearth::tasks
