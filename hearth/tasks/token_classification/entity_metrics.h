#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearth/metrics/entities.h"
#include "hearth/metrics/metrics.h"

namespace hearth::tasks {

// The metrics of run_ner.py, without a prefix: precision, recall, f1 and accuracy, or with `per_type` TYPE_precision,
// TYPE_recall, TYPE_f1 and TYPE_number for each type, then overall_precision, ..., overall_accuracy.
Metrics entity_metrics(const metrics::EntityScores& scores, bool per_type);
// The names of the metrics that labels with these names can have, and "loss".
std::vector<std::string> entity_metric_names(std::span<const std::string> labels, bool per_type);

// A line per type of entity, for the terminal; empty without entities.
std::string entity_table(const metrics::EntityScores& scores);

}  // namespace hearth::tasks
