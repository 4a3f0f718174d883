#pragma once

#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "hearth/kernels/attention/attention.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/kernels/rows/dropout.h"
#include "hearth/kernels/rows/sequences.h"
#include "tests/ops/dual.h"

// The operations once more, one number at a time as their definitions read.
namespace hearth::ops::formula {

using Numbers = std::vector<Dual>;

inline Dual activated(kernels::Activation kind, const Dual& x) {
  using kernels::Activation;
  switch (kind) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return 0.5 * x * (1 + erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return relu(x);
    case Activation::tanh:
      return tanh(x);
  }
  return {};
}

// y (T, N) = f(x (T, K) w^T + b); no b where it is empty.
inline Numbers linear(const Numbers& x, const Numbers& w, std::size_t inputs, const Numbers& b,
                      kernels::Activation kind = kernels::Activation::none) {
  const std::size_t tokens = x.size() / inputs, outputs = w.size() / inputs;
  Numbers y;
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t n = 0; n < outputs; ++n) {
      Dual sum = b.empty() ? Dual() : b[n];
      for (std::size_t k = 0; k < inputs; ++k) sum += x[t * inputs + k] * w[n * inputs + k];
      y.push_back(activated(kind, sum));
    }
  return y;
}

// Calls visit(sequence, position, token) for all tokens.
template <class Visit>
void for_each_token(const kernels::Sequences& sequences, const Visit& visit) {
  for (std::size_t s = 0; s < sequences.key_counts.size(); ++s)
    for (std::int64_t token = sequences.starts[s]; token < sequences.starts[s + 1]; ++token)
      visit(s, static_cast<std::uint32_t>(token - sequences.starts[s]), static_cast<std::size_t>(token));
}

inline Numbers dropout(const kernels::Sequences& sequences, const kernels::Dropout& dropout, const Numbers& x,
                       std::size_t cols) {
  if (!dropout.active()) return x;
  Numbers y(x.size());
  for_each_token(sequences, [&](std::size_t s, std::uint32_t position, std::size_t token) {
    for (std::uint32_t c = 0; c < cols; ++c)
      if (dropout_keeps(dropout, sequences.samples[s], position, c))
        y[token * cols + c] = x[token * cols + c] / (1.0 - double{dropout.p});
  });
  return y;
}

inline Numbers sum(const Numbers& a, const Numbers& b) {
  Numbers y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(a[i] + b[i]);
  return y;
}

inline Numbers layer_norm(const Numbers& z, const Numbers& gamma, const Numbers& beta, double eps) {
  const std::size_t cols = gamma.size();
  Numbers y;
  for (std::size_t row = 0; row < z.size() / cols; ++row) {
    Dual mean, variance;
    for (std::size_t c = 0; c < cols; ++c) mean += z[row * cols + c] / static_cast<double>(cols);
    for (std::size_t c = 0; c < cols; ++c) {
      const Dual centred = z[row * cols + c] - mean;
      variance += centred * centred / static_cast<double>(cols);
    }
    for (std::size_t c = 0; c < cols; ++c)
      y.push_back((z[row * cols + c] - mean) / sqrt(variance + eps) * gamma[c] + beta[c]);
  }
  return y;
}

// qkv (T, 3 H), out (T, H).
inline Numbers attention(const kernels::Sequences& sequences, const kernels::Dropout& dropout, const Numbers& qkv,
                         std::size_t hidden, std::size_t heads) {
  const std::size_t dim = hidden / heads;
  Numbers out(qkv.size() / 3);
  for_each_token(sequences, [&](std::size_t s, std::uint32_t position, std::size_t token) {
    const auto first = static_cast<std::size_t>(sequences.starts[s]);
    for (std::size_t head = 0; head < heads; ++head) {
      Numbers weights;
      Dual total;
      for (std::size_t key = 0; key < static_cast<std::size_t>(sequences.key_counts[s]); ++key) {
        Dual score;
        for (std::size_t d = head * dim; d < (head + 1) * dim; ++d)
          score += qkv[token * 3 * hidden + d] * qkv[(first + key) * 3 * hidden + hidden + d];
        weights.push_back(exp(score / std::sqrt(static_cast<double>(dim))));
        total += weights.back();
      }
      for (std::uint32_t key = 0; key < weights.size(); ++key) {
        Dual weight = weights[key] / total;
        if (dropout.active()) {
          const auto row = static_cast<std::uint32_t>(head * kernels::kDropoutPositions + position);
          if (!dropout_keeps(dropout, sequences.samples[s], row, key)) continue;
          weight = weight / (1.0 - double{dropout.p});
        }
        for (std::size_t d = head * dim; d < (head + 1) * dim; ++d)
          out[token * hidden + d] += weight * qkv[(first + key) * 3 * hidden + 2 * hidden + d];
      }
    }
  });
  return out;
}

inline Numbers rows_of(const Numbers& table, std::size_t cols, std::span<const std::int32_t> ids) {
  Numbers y;
  for (const std::int32_t id : ids)
    for (std::size_t c = 0; c < cols; ++c) y.push_back(table[static_cast<std::size_t>(id) * cols + c]);
  return y;
}

// -log softmax(logits)[label]
inline Dual negative_log_likelihood(std::span<const Dual> logits, std::size_t label) {
  Dual total;
  for (const Dual& logit : logits) total += exp(logit);
  return log(total) - logits[label];
}

// (1 - p)^gamma * loss
inline Dual focal(const Dual& loss, const Dual& p, double gamma) {
  return gamma == 0 ? loss : pow(1 - p, gamma) * loss;
}

}  // namespace hearth::ops::formula
