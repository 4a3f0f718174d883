#pragma once

#include "hearth/io/json.h"
#include "hearth/train/trainer_state.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// --metric_for_best_model as evaluations name it: with "eval_" in front.
std::string evaluation_name(const std::string& metric);

// The evaluation's --metric_for_best_model.
double metric_for_best_model(const TrainingArguments& args, const io::Json& metrics);

// Notes an evaluation by --metric_for_best_model in the state. True: the best so far, which a NaN never is.
bool take_best_metric(TrainerState& state, const TrainingArguments& args, const io::Json& metrics);

// As many evaluations without a gain as --early_stopping_patience allows.
bool out_of_patience(const TrainerState& state, const TrainingArguments& args);

}  // namespace hearth
