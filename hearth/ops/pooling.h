#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "hearth/base/api.h"
#include "hearth/base/enum_names.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// How the tokens of a sequence become one row; named as in sentence-transformers.
enum class Pooling : std::uint8_t {
  cls,                   // the first token
  max,                   // the largest value of each column
  mean,                  // the sum divided by the number of tokens
  mean_sqrt_len_tokens,  // the sum divided by the root of that number
  weightedmean,          // the mean with weights 1, 2, 3, ...
  lasttoken,
};
constexpr std::array<std::string_view, 6> names_of(Pooling) {
  return {"cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"};
}

// (T, H) -> (S, H) in f32, over the tokens of each sequence without its padding and without its first `skipped`
// tokens; `skipped` has a number per sequence, or is empty. A sequence of which nothing is left becomes zeros.
HEARTH_API Var pool_tokens(Context& ctx, const Var& x, Pooling mode, std::span<const std::int64_t> skipped = {});

}  // namespace hearth::ops
