#include "hearth/train/speed.h"

#include <algorithm>

namespace hearth {
namespace {

constexpr int kRepetitions = 3;

}  // namespace

Speed::Speed(std::function<double()> measure_rate)
    : measure_rate_(std::move(measure_rate)), repetitions_left_(kRepetitions) {
  if (measure_rate_) product_rate_ = measure_rate_();
}

void Speed::add_step(double tokens, double flops, double seconds) {
  tokens_ += tokens;
  flops_ += flops;
  seconds_ += seconds;
  if (matmul_share() > 1 && repetitions_left_ > 0) {
    --repetitions_left_;
    product_rate_ = std::max(product_rate_, measure_rate_());
  }
}

double Speed::matmul_share() const { return product_rate_ > 0 && seconds_ > 0 ? flops_ / seconds_ / product_rate_ : 0; }

}  // namespace hearth
