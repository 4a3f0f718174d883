#pragma once

#include <span>
#include <string>

#include "hearth/metrics/metrics.h"
#include "hearth/train/trainer.h"
#include "hearth/train/training_arguments.h"

// The lines that a training run logs at its start and at its end.
namespace hearth::apps {

// The settings that differ from their defaults, or with --verbose all of them, and the machine.
void log_settings(std::span<const Arguments::Resolved> settings, const TrainingArguments& args);

struct RunSummary {
  std::string try_it;  // the command to use the trained model with
  Metrics evaluation;  // the final one; empty: there was none
  double seconds = 0;  // since the program started
};
// Where the model is, its best metric, time, speed, peak memory, and how to use it.
void log_summary(const RunSummary& summary, const TrainingArguments& args, const Trainer& trainer);

// Which signal stopped training (0: one to another process), the checkpoint, and how to resume from it.
void log_interruption(int signal, const TrainingArguments& args, const Trainer& trainer);

}  // namespace hearth::apps
