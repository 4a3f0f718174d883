#pragma once

#include <functional>

namespace hearth {

// The speed of training, over the time spent in steps: evaluations and checkpoints do not count.
class Speed {
 public:
  // `measure_rate` returns the FLOP/s that the machine's matmul reaches; without it matmul_share() is 0. Where
  // training turns out faster than that, other processes had slowed the measurement down, and it is repeated a few
  // times.
  explicit Speed(std::function<double()> measure_rate = {});

  void add_step(double tokens, double flops, double seconds);

  double tokens() const { return tokens_; }
  double flops() const { return flops_; }
  double seconds() const { return seconds_; }
  double matmul_rate() const { return product_rate_; }  // FLOP/s; 0: not measured
  double tokens_per_second() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }
  double matmul_share() const;  // training FLOP/s divided by those of the matmul

 private:
  std::function<double()> measure_rate_;
  double product_rate_ = 0;
  int repetitions_left_;
  double tokens_ = 0, flops_ = 0, seconds_ = 0;
};

}  // namespace hearth
