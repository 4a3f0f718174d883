#pragma once

#include <array>
#include <string_view>

#include "hearth/base/enum_names.h"

namespace hearth {

// When the Trainer logs, evaluates and saves. best, for saving only: after an evaluation that is the best so far.
enum class Strategy { no, steps, epoch, best };
constexpr std::array<std::string_view, 4> names_of(Strategy) { return {"no", "steps", "epoch", "best"}; }

// The order of the training examples in an epoch.
enum class Sampling { random, sequential, group_by_length };
constexpr std::array<std::string_view, 3> names_of(Sampling) { return {"random", "sequential", "group_by_length"}; }

// What happens to a step whose loss or gradients are not finite: the run ends, the update is left out, or the weights
// take it.
enum class NanPolicy { stop, skip, ignore };
constexpr std::array<std::string_view, 3> names_of(NanPolicy) { return {"stop", "skip", "ignore"}; }

// The files of the state in checkpoints: Hearth's own, or the Trainer's. pytorch_v5 has RoBERTa's optimizer state in
// the order of transformers 5, pytorch in that of transformers 4; for other models they are the same.
enum class SaveFormat { safetensors, pytorch, pytorch_v5 };
constexpr std::array<std::string_view, 3> names_of(SaveFormat) { return {"safetensors", "pytorch", "pytorch_v5"}; }

// The Trainer's debugging aids. tpu_metrics_debug has no effect.
enum class DebugAid { underflow_overflow, tpu_metrics_debug };
constexpr std::array<std::string_view, 2> names_of(DebugAid) { return {"underflow_overflow", "tpu_metrics_debug"}; }

// Reports of a run that Hearth writes.
enum class Tracker { html, jsonl, tensorboard };
constexpr std::array<std::string_view, 3> names_of(Tracker) { return {"html", "jsonl", "tensorboard"}; }
// Trackers that transformers knows. They are accepted and have no effect.
inline constexpr std::array<std::string_view, 12> kOtherTrackers{"azure_ml", "clearml", "codecarbon", "comet_ml",
                                                                 "dagshub",  "dvclive", "flyte",      "mlflow",
                                                                 "neptune",  "swanlab", "trackio",    "wandb"};

// The lowest level of messages to show, as transformers names it; passive leaves the choice to the program.
enum class Verbosity { detail, debug, info, warning, error, critical, passive };
constexpr std::array<std::string_view, 7> names_of(Verbosity) {
  return {"detail", "debug", "info", "warning", "error", "critical", "passive"};
}

}  // namespace hearth
