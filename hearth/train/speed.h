#pragma once

#include <functional>

namespace hearth {

// How fast training goes, by the time of the steps alone: evaluations and checkpoints do not slow it down.
class Speed {
 public:
  // `measure_rate` gives the operations a second that the machine's matrix product reaches; without it there is no
  // share to tell. A measurement beside busy neighbours is too low: it is repeated, but not for ever.
  explicit Speed(std::function<double()> measure_rate = {});

  void add_step(double tokens, double flops, double seconds);

  double tokens() const { return tokens_; }
  double tokens_per_second() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }
  double product_share() const;  // of the matrix product's rate

 private:
  std::function<double()> measure_rate_;
  double product_rate_ = 0;
  int repetitions_left_;
  double tokens_ = 0, flops_ = 0, seconds_ = 0;
};

}  // namespace hearth
