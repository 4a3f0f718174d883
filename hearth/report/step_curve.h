#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/train/callbacks.h"

namespace hearth::report {

// The mean over some consecutive steps.
struct CurvePoint {
  std::int64_t step = 0;  // the last of them
  double seconds = 0;     // of the run when that step ended
  double loss = 0, learning_rate = 0, grad_norm = 0;
  double tokens_per_second = 0;
  double limit_share = 0;   // FLOP/s of training divided by those that the machine's matmul reaches; 0: not measured
  double memory_bytes = 0;  // of this process
};

// Values of every step of a run, as a curve of bounded size: where it has too many points, each two become one.
class StepCurve {
 public:
  static constexpr std::size_t kMostPoints = 1000;

  // Notes a step. `seconds` and the sums in `facts` grow from step to step.
  void add(std::int64_t step, double seconds, const StepFacts& facts);
  // Forgets later steps, before a run is resumed; the sums of the next step start at zero.
  void resume_from(std::int64_t step);

  const std::vector<CurvePoint>& points() const { return points_; }
  std::int64_t steps_per_point() const { return steps_per_point_; }

  io::Json to_json() const;  // an array per member
  static StepCurve from_json(const io::Json& json, const std::string& file);

 private:
  struct Sums {
    std::int64_t steps = 0;
    double loss = 0, grad_norm = 0;
  };
  struct Before {  // the sums when the last point ended
    double seconds = 0, tokens = 0, flops = 0;
  };

  void halve();

  std::vector<CurvePoint> points_;
  std::int64_t steps_per_point_ = 1;
  Sums sums_;
  Before before_;
};

}  // namespace hearth::report
