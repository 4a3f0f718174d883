#include "hearth/kernels/rows/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/layer_norm.cc"
#include "hearth/base/rounding.h"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/column_sums.h"
#include "hearth/kernels/rows/dropout-inl.h"
#include "hearth/kernels/rows/token_cursor.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// body(i, lanes, factor) with dropout's factors, or 1 without dropout, in which case `token` is null.
template <class D, class Body>
HWY_INLINE void for_row(D d, const LayerNormArgs& args, const TokenCursor* token, const Body& body) {
  if (token != nullptr) {
    for_dropout_vectors(d, args.dropout, token->sample(), token->position(), args.cols, body);
  } else {
    const auto one = hn::Set(d, 1.0f);
    for_vectors(d, args.cols, [&](std::int64_t i, auto lanes) HWY_ATTR { body(i, lanes, one); });
  }
}

template <class T>
void add_residual(const LayerNormArgs& args, const TokenCursor* token, const T* x, const T* residual, T* z) {
  const F32 d;
  if (residual != nullptr) {
    for_row(d, args, token, [&](std::int64_t i, auto lanes, auto factor) HWY_ATTR {
      lanes.store(d, hn::MulAdd(lanes.load(d, x + i), factor, lanes.load(d, residual + i)), z + i);
    });
  } else if (token != nullptr || x != z) {
    for_row(d, args, token, [&](std::int64_t i, auto lanes, auto factor) HWY_ATTR {
      lanes.store(d, hn::Mul(lanes.load(d, x + i), factor), z + i);
    });
  }
}

template <class T>
void normalize(const LayerNormArgs& args, const T* z, T* y, float* mean_out, float* rstd_out) {
  const F32 d;
  const auto cols = static_cast<float>(args.cols);
  const float mean =
      sum_vectors(d, args.cols, [&](std::int64_t i, auto lanes) HWY_ATTR { return lanes.load(d, z + i); }) / cols;
  const auto means = hn::Set(d, mean);
  const float squares = sum_vectors(d, args.cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto difference = lanes.or_else(d, hn::Sub(lanes.load(d, z + i), means), 0.0f);
    return hn::Mul(difference, difference);
  });
  const float rstd = 1.0f / std::sqrt(squares / cols + args.eps);
  const auto rstds = hn::Set(d, rstd);
  for_vectors(d, args.cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto normal = hn::Mul(hn::Sub(lanes.load(d, z + i), means), rstds);
    lanes.store(d, hn::MulAdd(normal, lanes.load(d, args.gamma + i), lanes.load(d, args.beta + i)), y + i);
  });
  *mean_out = mean;
  *rstd_out = rstd;
}

void forward_rows(const LayerNormArgs& args, std::int64_t begin, std::int64_t end) {
  visit_stored(args.type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    TokenCursor token(args.sequences, begin);
    for (std::int64_t row = begin; row < end; ++row, token.next()) {
      const std::int64_t at = row * args.cols;
      const T* residual = static_cast<const T*>(args.residual);
      T* const z = static_cast<T*>(args.z) + at;
      add_residual(args, args.dropout.active() ? &token : nullptr, static_cast<const T*>(args.x) + at,
                   residual == nullptr ? nullptr : residual + at, z);
      normalize(args, z, static_cast<T*>(args.y) + at, args.mean + row, args.rstd + row);
    }
  });
}

// dz = rstd * (g - mean(g) - n * mean(g * n)), with g = dy * gamma and n = (z - mean) * rstd.
template <class T>
void backward_row(const LayerNormArgs& args, const LayerNormGradArgs& grads, const TokenCursor* token, std::int64_t row,
                  float* HWY_RESTRICT dgamma, float* HWY_RESTRICT dbeta) {
  const F32 d;
  const std::int64_t at = row * args.cols;
  const T* z = static_cast<const T*>(args.z) + at;
  const T* dy = static_cast<const T*>(grads.dy) + at;
  T* dx = static_cast<T*>(grads.dx) + at;
  T* dresidual = grads.dresidual == nullptr ? nullptr : static_cast<T*>(grads.dresidual) + at;
  const auto mean = hn::Set(d, args.mean[row]), rstd = hn::Set(d, args.rstd[row]);

  auto sum_g = hn::Zero(d), sum_gn = hn::Zero(d);
  for_vectors(d, args.cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto n = hn::Mul(hn::Sub(lanes.load(d, z + i), mean), rstd);
    const auto dyi = lanes.load(d, dy + i);
    const auto g = hn::Mul(dyi, lanes.load(d, args.gamma + i));
    sum_g = hn::Add(sum_g, g);
    sum_gn = hn::MulAdd(g, n, sum_gn);
    lanes.store(d, hn::MulAdd(dyi, n, lanes.load(d, dgamma + i)), dgamma + i);
    lanes.store(d, hn::Add(lanes.load(d, dbeta + i), dyi), dbeta + i);
  });
  const auto cols = hn::Set(d, static_cast<float>(args.cols));
  const auto mean_g = hn::Div(hn::SumOfLanes(d, sum_g), cols), mean_gn = hn::Div(hn::SumOfLanes(d, sum_gn), cols);

  for_row(d, args, token, [&](std::int64_t i, auto lanes, auto factor) HWY_ATTR {
    const auto n = hn::Mul(hn::Sub(lanes.load(d, z + i), mean), rstd);
    const auto g = hn::Mul(lanes.load(d, dy + i), lanes.load(d, args.gamma + i));
    const auto dz = hn::Mul(hn::NegMulAdd(n, mean_gn, hn::Sub(g, mean_g)), rstd);
    if (dresidual != nullptr) {
      const auto total = grads.accumulate_dresidual ? hn::Add(lanes.load(d, dresidual + i), dz) : dz;
      lanes.store(d, total, dresidual + i);
    }
    lanes.store(d, hn::Mul(dz, factor), dx + i);
  });
}

// dgamma and dbeta (cols) receive the sums over these rows.
void backward_rows(const LayerNormArgs& args, const LayerNormGradArgs& grads, std::int64_t begin, std::int64_t end,
                   float* dgamma, float* dbeta) {
  std::fill_n(dgamma, args.cols, 0.0f);
  std::fill_n(dbeta, args.cols, 0.0f);
  visit_stored(args.type, [&](auto value) HWY_ATTR {
    TokenCursor token(args.sequences, begin);
    for (std::int64_t row = begin; row < end; ++row, token.next())
      backward_row<decltype(value)>(args, grads, args.dropout.active() ? &token : nullptr, row, dgamma, dbeta);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void layer_norm_forward(const LayerNormArgs& args) {
  const auto run = HEARTH_SIMD(forward_rows);
  cpu::parallel_chunks(args.sequences.tokens(), kRowChunk,
                       [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

void layer_norm_backward(const LayerNormArgs& args, const LayerNormGradArgs& grads) {
  // Few rows per chunk, so that all threads have some; not too few, because each chunk has sums to be added up.
  constexpr std::int64_t kFewestRows = 8, kMostChunks = 96;
  const std::int64_t tokens = args.sequences.tokens();
  const std::int64_t rows = std::max(kFewestRows, divide_up(tokens, kMostChunks)), chunks = divide_up(tokens, rows);
  float* const dgammas = scratch<float, Scratch::partial_sums>(2 * chunks * args.cols);  // (chunks, cols)
  float* const dbetas = dgammas + chunks * args.cols;                                    // (chunks, cols)
  const auto run = HEARTH_SIMD(backward_rows);
  cpu::parallel_chunks(tokens, rows, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = begin / rows * args.cols;
    run(args, grads, begin, end, dgammas + at, dbetas + at);
  });
  add_in_order(chunks, args.cols,
               std::array{PartialSums{dgammas, grads.dgamma, grads.accumulate_dgamma},
                          PartialSums{dbetas, grads.dbeta, grads.accumulate_dbeta}});
}

}  // namespace hearth::kernels
#endif
