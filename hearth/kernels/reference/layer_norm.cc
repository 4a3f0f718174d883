#include <cmath>
#include <vector>

#include "hearth/kernels/reference/numbers.h"
#include "hearth/kernels/reference/reference.h"

namespace hearth::kernels::reference {
namespace {

// body(token, sample, position)
template <class Body>
void for_tokens(const Sequences& sequences, const Body& body) {
  for (std::size_t s = 0; s + 1 < sequences.starts.size(); ++s)
    for (std::int64_t t = sequences.starts[s]; t < sequences.starts[s + 1]; ++t)
      body(t, s, static_cast<std::uint32_t>(t - sequences.starts[s]));
}

double dropout_factor(const Sequences& sequences, const Dropout& dropout, std::size_t sequence, std::uint32_t position,
                      std::int64_t col) {
  if (!dropout.active()) return 1;
  const bool keeps = dropout_keeps(dropout, sequences.samples[sequence], position, static_cast<std::uint32_t>(col));
  return keeps ? dropout.scale() : 0.0f;
}

}  // namespace

void dropout_rows(DType type, const Sequences& sequences, std::int64_t cols, const Dropout& dropout, const void* x,
                  void* y) {
  for_tokens(sequences, [&](std::int64_t t, std::size_t sequence, std::uint32_t position) {
    for (std::int64_t col = 0; col < cols; ++col)
      set(type, y, t * cols + col,
          get(type, x, t * cols + col) * dropout_factor(sequences, dropout, sequence, position, col));
  });
}

void layer_norm_forward(const LayerNormArgs& args) {
  const std::int64_t cols = args.cols;
  for_tokens(args.sequences, [&](std::int64_t t, std::size_t sequence, std::uint32_t position) {
    for (std::int64_t i = 0; i < cols; ++i) {
      const double kept =
          get(args.type, args.x, t * cols + i) * dropout_factor(args.sequences, args.dropout, sequence, position, i);
      const double residual = args.residual != nullptr ? get(args.type, args.residual, t * cols + i) : 0.0;
      set(args.type, args.z, t * cols + i, residual + kept);
    }
    const auto z = [&](std::int64_t i) { return get(args.type, args.z, t * cols + i); };
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < cols; ++i) mean += z(i) / static_cast<double>(cols);
    for (std::int64_t i = 0; i < cols; ++i) variance += (z(i) - mean) * (z(i) - mean) / static_cast<double>(cols);
    const double rstd = 1 / std::sqrt(variance + args.eps);
    for (std::int64_t i = 0; i < cols; ++i)
      set(args.type, args.y, t * cols + i, (z(i) - mean) * rstd * args.gamma[i] + args.beta[i]);
    args.mean[t] = static_cast<float>(mean);
    args.rstd[t] = static_cast<float>(rstd);
  });
}

void layer_norm_backward(const LayerNormArgs& args, const LayerNormGradArgs& grads) {
  const std::int64_t cols = args.cols;
  std::vector<double> dgamma(static_cast<std::size_t>(cols)), dbeta(static_cast<std::size_t>(cols));
  for_tokens(args.sequences, [&](std::int64_t t, std::size_t sequence, std::uint32_t position) {
    const auto normal = [&](std::int64_t i) {
      return (get(args.type, args.z, t * cols + i) - args.mean[t]) * args.rstd[t];
    };
    const auto dy = [&](std::int64_t i) { return get(args.type, grads.dy, t * cols + i); };
    double mean_g = 0, mean_gn = 0;
    for (std::int64_t i = 0; i < cols; ++i) {
      dgamma[static_cast<std::size_t>(i)] += dy(i) * normal(i);
      dbeta[static_cast<std::size_t>(i)] += dy(i);
      mean_g += dy(i) * args.gamma[i] / static_cast<double>(cols);
      mean_gn += dy(i) * args.gamma[i] * normal(i) / static_cast<double>(cols);
    }
    for (std::int64_t i = 0; i < cols; ++i) {
      const std::int64_t at = t * cols + i;
      const double dz = args.rstd[t] * (dy(i) * args.gamma[i] - mean_g - normal(i) * mean_gn);
      if (grads.dresidual != nullptr) {
        const double before = grads.accumulate_dresidual ? get(args.type, grads.dresidual, at) : 0.0;
        set(args.type, grads.dresidual, at, before + dz);
      }
      set(args.type, grads.dx, at, dz * dropout_factor(args.sequences, args.dropout, sequence, position, i));
    }
  });
  const auto write = [&](const std::vector<double>& sums, bool add, float* out) {
    for (std::size_t i = 0; out != nullptr && i < sums.size(); ++i)
      out[i] = static_cast<float>((add ? out[i] : 0.0) + sums[i]);
  };
  write(dgamma, grads.accumulate_dgamma, grads.dgamma);
  write(dbeta, grads.accumulate_dbeta, grads.dbeta);
}

}  // namespace hearth::kernels::reference
