#include "hearth/kernels/optimizer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/optimizer.cc"
#include "hearth/kernels/simd.h"
// After simd.h.
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/chunks.h"
#include "hearth/kernels/scratch.h"
#include "hearth/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// Prefetch distance in numbers. One core of an Intel server reads a fifth faster with it; AMD cores get slower beyond
// the 128 of an update (docs/performance.md, "Steps taken").
constexpr std::int64_t kSquaresAhead = 1024, kUpdateAhead = 128;

double sum_of_squares_range(std::int64_t n, const float* x) {
  const F32 d;
  const hn::Half<F32> dh;
  const hn::RepartitionToWide<F32> dw;
  auto sum0 = hn::Zero(dw), sum1 = hn::Zero(dw);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    hwy::Prefetch(x + i + kSquaresAhead);
    const auto v = lanes.load(d, x + i);
    const auto low = hn::PromoteTo(dw, hn::LowerHalf(dh, v)), high = hn::PromoteTo(dw, hn::UpperHalf(dh, v));
    sum0 = hn::MulAdd(low, low, sum0);
    sum1 = hn::MulAdd(high, high, sum1);
  });
  return hn::GetLane(hn::SumOfLanes(dw, hn::Add(sum0, sum1)));
}

void adamw_range(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v) {
  const F32 d;
  const auto set = [&](double x) HWY_ATTR { return hn::Set(d, static_cast<float>(x)); };
  const double correction1 = 1 - std::pow(step.beta1, static_cast<double>(step.step));
  const double correction2 = 1 - std::pow(step.beta2, static_cast<double>(step.step));
  const auto scale = hn::Set(d, step.grad_scale);
  const auto decay = set(1 - step.lr * step.weight_decay);
  const auto rate1 = set(1 - step.beta1), beta2 = set(step.beta2), rate2 = set(1 - step.beta2);
  const auto root_correction2 = set(std::sqrt(correction2)), eps = set(step.eps);
  const auto step_size = set(step.lr / correction1);
  const auto smallest_normal = hn::Set(d, std::numeric_limits<float>::min());
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    for (const float* stream : std::initializer_list<const float*>{p, g, m, v})
      hwy::Prefetch(stream + i + kUpdateAhead);
    const auto gradient = hn::Mul(lanes.load(d, g + i), scale);
    const auto m_before = lanes.load(d, m + i);
    const auto m_moved = hn::MulAdd(hn::Sub(gradient, m_before), rate1, m_before);
    const auto m_now = hn::IfThenZeroElse(hn::Lt(hn::Abs(m_moved), smallest_normal), m_moved);
    const auto v_now = hn::MulAdd(hn::Mul(rate2, gradient), gradient, hn::Mul(lanes.load(d, v + i), beta2));
    const auto denominator = hn::Add(hn::Div(hn::Sqrt(v_now), root_correction2), eps);
    const auto decayed = hn::Mul(lanes.load(d, p + i), decay);
    lanes.store(d, m_now, m + i);
    lanes.store(d, v_now, v + i);
    lanes.store(d, hn::Sub(decayed, hn::Div(hn::Mul(step_size, m_now), denominator)), p + i);
  });
}

void sgd_range(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer) {
  const F32 d;
  const auto scale = hn::Set(d, step.grad_scale);
  const auto lr = hn::Set(d, static_cast<float>(step.lr)), decay = hn::Set(d, static_cast<float>(step.weight_decay));
  const auto momentum = hn::Set(d, static_cast<float>(step.momentum));
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto before = lanes.load(d, p + i);
    auto change = hn::MulAdd(before, decay, hn::Mul(lanes.load(d, g + i), scale));
    if (step.momentum != 0) {
      if (!step.first) change = hn::MulAdd(lanes.load(d, buffer + i), momentum, change);
      lanes.store(d, change, buffer + i);
    }
    lanes.store(d, hn::NegMulAdd(change, lr, before), p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

double sum_of_squares(std::int64_t n, const float* x) {
  const std::int64_t chunks = (n + kFlatChunk - 1) / kFlatChunk;
  double* const sums = scratch<double, Scratch::partial_sums>(chunks);  // (chunks)
  const auto run = HEARTH_SIMD(sum_of_squares_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    sums[begin / kFlatChunk] = run(end - begin, x + begin);
  });
  double total = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) total += sums[chunk];
  return total;
}

void adamw(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v) {
  const auto run = HEARTH_SIMD(adamw_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, m + begin, v + begin);
  });
}

void sgd(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer) {
  const auto run = HEARTH_SIMD(sgd_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, buffer == nullptr ? nullptr : buffer + begin);
  });
}

}  // namespace hearth::kernels
#endif
