#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/report/step_curve.h"

namespace hearth::report {

inline constexpr const char* kRecordFile = "report.json";

// What report.html shows, `hearth top` watches and `hearth report` compares: the contents of report.json.
struct RunRecord {
  std::string name, command, folder, host, version;
  std::int64_t pid = 0;
  std::string state = "training";   // or finished, interrupted, failed; a killed run stays at training
  double started = 0, updated = 0;  // seconds since 1970
  double seconds = 0;               // of training, resumed runs together
  double seconds_left = 0;          // an estimate
  std::vector<std::int64_t> resumed_at = {};
  std::int64_t step = 0, max_steps = 0, epochs = 0;
  double epoch = 0;
  std::optional<double> best_metric = {};
  StepCurve curve = {};
  io::Json evaluations = io::Json::array();  // log rows with eval_ names
  io::Json results = io::Json::object();     // train_runtime, ..., of a run that has trained to its end
  io::Json samples = io::Json::array();      // of the last evaluation: input, question, expected, predicted, right
  io::Json ops = io::Json::array();          // op, calls, seconds, of the steps that were profiled
  std::int64_t profiled_steps = 0;
  io::Json ranks = io::Json::array();     // busy_share, memory_bytes
  io::Json settings = io::Json::array();  // section, name, value, is_default
  io::Json model_config = io::Json::object(), environment = io::Json::object();

  io::Json to_json() const;
  static RunRecord from_json(const io::Json& json, const std::string& file);  // checks every value

  // Of the run in a folder: report.json, or, for a run that kept none, what trainer_state.json and the files beside it
  // tell. An Error if there is neither.
  static RunRecord load(const std::filesystem::path& folder);
};

}  // namespace hearth::report
