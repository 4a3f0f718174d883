#include "hearth/report/reporter.h"

#include <chrono>
#include <cmath>

namespace hearth::report {

io::Json finite_json(double value) { return std::isfinite(value) ? io::Json(value) : io::Json(); }

io::Json row_json(const TrainingProgress& progress, const Metrics& row) {
  io::Json json{{"step", progress.global_step}, {"epoch", progress.epoch}};
  for (const auto& [name, value] : row)
    json[name] = value.is_integer() ? io::Json(value.as_integer()) : finite_json(value.as_double());
  return json;
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace hearth::report
