#include "hearth/ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// The pooled rows of a sequence: [begin, end) of the packed row of tokens. Position 0 is the sequence's first token.
struct Pooled {
  std::int64_t sequence_begin = 0, begin = 0, end = 0, padded_end = 0;

  std::int64_t count() const { return end - begin; }
};

std::vector<Pooled> pooled_tokens(const kernels::Sequences& sequences, std::span<const std::int64_t> skipped) {
  std::vector<Pooled> all;
  for (std::size_t s = 0; s < static_cast<std::size_t>(sequences.count()); ++s) {
    const std::int64_t first = sequences.starts[s], end = first + sequences.key_counts[s];
    const std::int64_t begin = std::min(end, first + (skipped.empty() ? 0 : skipped[s]));
    all.push_back({first, begin, end, sequences.starts[s + 1]});
  }
  return all;
}

// Every mode but max is a weighted sum of the tokens.
float weight_of(Pooling mode, const Pooled& tokens, std::int64_t token) {
  const auto count = static_cast<float>(tokens.count());
  switch (mode) {
    case Pooling::cls:
      return token == tokens.begin ? 1.0f : 0.0f;
    case Pooling::lasttoken:
      return token == tokens.end - 1 ? 1.0f : 0.0f;
    case Pooling::mean:
      return 1 / count;
    case Pooling::mean_sqrt_len_tokens:
      return 1 / std::sqrt(count);
    case Pooling::weightedmean: {
      const auto first = static_cast<double>(tokens.begin - tokens.sequence_begin);
      const auto last = static_cast<double>(tokens.end - tokens.sequence_begin);
      const double sum = (last * (last + 1) - first * (first + 1)) / 2;
      return static_cast<float>(static_cast<double>(token - tokens.sequence_begin + 1) / sum);
    }
    case Pooling::max:
      break;
  }
  fail("[pool_tokens] max has no weights");
}

void read_row(const Tensor& x, std::int64_t row, std::vector<float>& values) {
  kernels::convert_serial(x.type(), x.slice(row, row + 1).raw(), DType::f32, values.data(), x.row_size());
}

void write_row(const std::vector<float>& values, const GradTarget& target, std::int64_t row) {
  const Tensor to = target.tensor.slice(row, row + 1);
  if (!target.accumulate) return kernels::convert_serial(DType::f32, values.data(), to.type(), to.raw(), to.row_size());
  std::vector<float> sum(values.size());
  read_row(target.tensor, row, sum);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
  kernels::convert_serial(DType::f32, sum.data(), to.type(), to.raw(), to.row_size());
}

Var weighted_sums(Context& ctx, const Var& x, Pooling mode, std::vector<Pooled> sequences) {
  const std::int64_t columns = x.value().row_size();
  const Tensor y = Tensor::zeros({std::ssize(sequences), columns}, DType::f32);
  cpu::parallel_for(std::ssize(sequences), [&](std::int64_t s) {
    const Pooled& tokens = sequences[static_cast<std::size_t>(s)];
    float* const sum = y.data<float>() + s * columns;
    std::vector<float> row(static_cast<std::size_t>(columns));
    for (std::int64_t token = tokens.begin; token < tokens.end; ++token) {
      const float weight = weight_of(mode, tokens, token);
      if (weight == 0) continue;
      read_row(x.value(), token, row);
      for (std::size_t i = 0; i < row.size(); ++i) sum[i] += weight * row[i];
    }
  });
  return ctx.record({"pooling", {x}}, y, [x = x.edge(), mode, sequences = std::move(sequences)](const Tensor& dy) {
    const GradTarget target = grad_target(x);
    cpu::parallel_for(std::ssize(sequences), [&](std::int64_t s) {
      const Pooled& tokens = sequences[static_cast<std::size_t>(s)];
      const float* const slope = dy.data<float>() + s * dy.row_size();
      std::vector<float> row(static_cast<std::size_t>(dy.row_size()));
      for (std::int64_t token = tokens.sequence_begin; token < tokens.padded_end; ++token) {
        const bool is_pooled = tokens.begin <= token && token < tokens.end;
        const float weight = is_pooled ? weight_of(mode, tokens, token) : 0;
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = weight * slope[i];
        write_row(row, target, token);
      }
    });
  });
}

Var maxima(Context& ctx, const Var& x, const std::vector<Pooled>& sequences) {
  const std::int64_t columns = x.value().row_size();
  const Tensor y = Tensor::zeros({std::ssize(sequences), columns}, DType::f32);
  std::vector<std::int64_t> places(static_cast<std::size_t>(y.size()), -1);  // the token that each value is from
  cpu::parallel_for(std::ssize(sequences), [&](std::int64_t s) {
    const Pooled& tokens = sequences[static_cast<std::size_t>(s)];
    std::vector<float> row(static_cast<std::size_t>(columns));
    for (std::int64_t token = tokens.begin; token < tokens.end; ++token) {
      read_row(x.value(), token, row);
      for (std::int64_t i = 0; i < columns; ++i) {
        float& largest = y.data<float>()[s * columns + i];
        std::int64_t& place = places[static_cast<std::size_t>(s * columns + i)];
        if (place >= 0 && row[static_cast<std::size_t>(i)] <= largest) continue;
        largest = row[static_cast<std::size_t>(i)];
        place = token;
      }
    }
  });
  return ctx.record({"pooling", {x}}, y, [x = x.edge(), sequences, places = std::move(places)](const Tensor& dy) {
    const GradTarget target = grad_target(x);
    const std::int64_t width = dy.row_size();
    cpu::parallel_for(std::ssize(sequences), [&](std::int64_t s) {
      const Pooled& tokens = sequences[static_cast<std::size_t>(s)];
      std::vector<float> row(static_cast<std::size_t>(width));
      for (std::int64_t token = tokens.sequence_begin; token < tokens.padded_end; ++token) {
        for (std::int64_t i = 0; i < width; ++i)
          row[static_cast<std::size_t>(i)] =
              places[static_cast<std::size_t>(s * width + i)] == token ? dy.data<float>()[s * width + i] : 0;
        write_row(row, target, token);
      }
    });
  });
}

}  // namespace

Var pool_tokens(Context& ctx, const Var& x, Pooling mode, std::span<const std::int64_t> skipped) {
  const Span span("pooling");
  check_floats("pool_tokens", x.value());
  ctx.check_tokens("pool_tokens", x.value());
  check(skipped.empty() || std::ssize(skipped) == ctx.sequences.count(), "[pool_tokens] {} numbers for {} sequences",
        skipped.size(), ctx.sequences.count());
  std::vector<Pooled> sequences = pooled_tokens(ctx.sequences, skipped);
  return mode == Pooling::max ? maxima(ctx, x, sequences) : weighted_sums(ctx, x, mode, std::move(sequences));
}

}  // namespace hearth::ops
