#pragma once

#include "hearth/metrics/metrics.h"
#include "hearth/train/trainer_state.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// The name of --metric_for_best_model in an evaluation's metrics: with "eval_" in front.
std::string evaluation_name(const std::string& metric);

// The value of --metric_for_best_model in an evaluation's metrics.
double metric_for_best_model(const TrainingArguments& args, const Metrics& metrics);

// Updates the state's best metric, and its count of evaluations without gain, from an evaluation. True: it is the best
// so far; a NaN never is.
bool take_best_metric(TrainerState& state, const TrainingArguments& args, const Metrics& metrics);

// True when --early_stopping_patience evaluations in a row were without gain.
bool out_of_patience(const TrainerState& state, const TrainingArguments& args);

}  // namespace hearth
