#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/io/json.h"
#include "hearth/metrics/metrics.h"
#include "hearth/metrics/sample_prediction.h"
#include "hearth/train/callbacks.h"

namespace hearth {
class ParameterStore;
}

namespace hearth::report {

// What is known of a run before it begins.
struct RunFacts {
  std::string name, command;  // --run_name or the output folder; "run_qa"
  std::filesystem::path output_dir;
  std::filesystem::path logging_dir = {};  // of TensorBoard's files; empty: output_dir/runs/DATE_HOST
  std::vector<Arguments::Resolved> settings = {};
  io::Json model_config = io::Json::object(), environment = io::Json::object();
  // Of the last evaluation; may be empty.
  std::function<std::vector<SamplePrediction>()> samples = {};
  const ParameterStore* histograms = nullptr;  // of these weights and their gradients; null: none
};

enum class Ending { finished, interrupted, failed };

// A record of a run in some format, kept by rank 0. It watches and changes nothing; what it throws costs the record,
// not the run.
class Reporter {
 public:
  virtual ~Reporter() = default;

  virtual void begin(const TrainingProgress&) {}  // global_step above 0: the run is resumed
  virtual void step(const TrainingProgress&) {}
  // A row of the log: of the loss, of an evaluation (its names begin with eval_), or of the results.
  virtual void row(const TrainingProgress&, const Metrics& /*row*/) {}
  virtual void end(const TrainingProgress&, Ending) {}
};

// NaN and infinity, which JSON does not have, are null.
io::Json finite_json(double value);
io::Json row_json(const TrainingProgress& progress, const Metrics& row);  // step, epoch, then the row's other values

double unix_seconds();  // now

}  // namespace hearth::report
