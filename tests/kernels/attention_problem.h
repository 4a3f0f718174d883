#pragma once

// What the tests of attention share.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/kernels/attention/attention.h"
#include "tests/kernels/attention_emulated.h"

namespace hearth::kernels::attention_tests {

inline constexpr DType kFormats[] = {DType::f32, DType::bf16, DType::f16};

inline float get(DType type, const void* data, std::int64_t i) {
  switch (type) {
    case DType::bf16:
      return static_cast<float>(static_cast<const BFloat16*>(data)[i]);
    case DType::f16:
      return static_cast<float>(static_cast<const Float16*>(data)[i]);
    default:
      return static_cast<const float*>(data)[i];
  }
}

inline void set(DType type, void* data, std::int64_t i, float value) {
  switch (type) {
    case DType::bf16:
      static_cast<BFloat16*>(data)[i] = BFloat16(value);
      return;
    case DType::f16:
      static_cast<Float16*>(data)[i] = Float16(value);
      return;
    default:
      static_cast<float*>(data)[i] = value;
  }
}

// (rows, stride) numbers of which (rows, cols) are in use; the rest, and a guard on either side, must stay as it was.
class Matrix {
 public:
  Matrix(DType type, std::int64_t rows, std::int64_t cols, std::int64_t stride)
      : type_(type), rows_(rows), cols_(cols), stride_(stride) {
    bytes_.assign(static_cast<std::size_t>(rows * stride + 2 * kGuard) * size_of(type), kCanary);
  }

  void* data() { return bytes_.data() + kGuard * size_of(type_); }
  const void* data() const { return bytes_.data() + kGuard * size_of(type_); }
  void* column(std::int64_t col) { return static_cast<std::byte*>(data()) + col * size_of(type_); }
  float at(std::int64_t row, std::int64_t col) const { return get(type_, data(), row * stride_ + col); }
  void put(std::int64_t row, std::int64_t col, float value) { set(type_, data(), row * stride_ + col, value); }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  void fill(std::mt19937& random, float spread) {
    std::normal_distribution<float> normal(0, spread);
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < cols_; ++j) put(i, j, normal(random));
  }

  bool canaries_live() const {
    const auto size = size_of(type_);
    for (std::size_t b = 0; b < bytes_.size(); ++b) {
      const std::int64_t element = static_cast<std::int64_t>(b / size) - kGuard;
      const bool in_use = element >= 0 && element < rows_ * stride_ && element % stride_ < cols_;
      if (!in_use && bytes_[b] != kCanary) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t kGuard = 64;
  static constexpr std::byte kCanary{0x5a};
  DType type_;
  std::int64_t rows_, cols_, stride_;
  std::vector<std::byte> bytes_;
};

struct Setting {
  std::vector<std::int64_t> lengths, keys;
  std::int64_t heads = 1, dim = 8;
  DType type = DType::f32;
  float dropout = 0;
  std::int64_t gap = 0;  // unused elements at the end of each row

  std::string text() const {
    std::string text = fmt::format("{} heads {} dim {} dropout {} lengths:", name_of(type), heads, dim, dropout);
    for (std::size_t s = 0; s < lengths.size(); ++s) text += fmt::format(" {}/{}", keys[s], lengths[s]);
    return text;
  }
};

// Tensors of one attention; q, k and v are slices of one matrix, and so are their gradients.
struct Problem {
  Setting setting;
  std::vector<std::int64_t> starts{0};
  std::vector<std::uint32_t> samples;
  std::int64_t width = setting.heads * setting.dim;
  std::int64_t tokens;
  Matrix qkv, out, lse, dout, dqkv;

  explicit Problem(const Setting& s)
      : setting(s),
        tokens(std::accumulate(s.lengths.begin(), s.lengths.end(), std::int64_t{0})),
        qkv(s.type, tokens, 3 * width, 3 * width + s.gap),
        out(s.type, tokens, width, width),
        lse(DType::f32, s.heads, tokens, tokens),
        dout(s.type, tokens, width, width),
        dqkv(s.type, tokens, 3 * width, 3 * width + 2 * s.gap) {
    for (const std::int64_t length : s.lengths) {
      samples.push_back(static_cast<std::uint32_t>(17 + 3 * samples.size()));
      starts.push_back(starts.back() + length);
    }
    std::mt19937 random(11);
    qkv.fill(random, 1);
    dout.fill(random, 1);
  }

  AttentionArgs args() {
    AttentionArgs args;
    args.type = setting.type;
    args.sequences = {starts, setting.keys, samples};
    args.heads = setting.heads;
    args.head_dim = setting.dim;
    args.stride = 3 * width + setting.gap;
    args.q = qkv.column(0);
    args.k = qkv.column(width);
    args.v = qkv.column(2 * width);
    args.scale = 1 / std::sqrt(static_cast<float>(setting.dim));
    args.dropout = {setting.dropout, philox_key(1, 2, 3)};
    args.out = out.data();
    args.lse = static_cast<float*>(lse.data());
    return args;
  }

  AttentionGradArgs grads() {
    return {dout.data(), dqkv.column(0), dqkv.column(width), dqkv.column(2 * width), 3 * width + 2 * setting.gap};
  }

  bool canaries_live() const {
    return qkv.canaries_live() && out.canaries_live() && lse.canaries_live() && dout.canaries_live() &&
           dqkv.canaries_live();
  }
};

// Rounding of the format, on top of the f32 arithmetic's.
inline float tolerance(DType type) {
  switch (type) {
    case DType::bf16:
      return 1.0f / 128;
    case DType::f16:
      return 1.0f / 1024;
    default:
      return 2e-5f;
  }
}

inline void expect_near(const Matrix& got, const Matrix& want, float tolerance, std::string_view what) {
  for (std::int64_t i = 0; i < want.rows(); ++i)
    for (std::int64_t j = 0; j < want.cols(); ++j) {
      const float bound = tolerance * (0.5f + std::abs(want.at(i, j)));
      ASSERT_NEAR(got.at(i, j), want.at(i, j), bound) << what << " row " << i << " column " << j;
    }
}

inline const AttentionImpl& reference() { return attention_impls().back(); }

// Every implementation for the format that this processor has, and the emulation of one that it may not have.
inline std::vector<AttentionImpl> fast_impls(DType type) {
  AttentionArgs args;
  args.type = type;
  std::vector<AttentionImpl> impls;
  for (const AttentionImpl& impl : attention_impls().first(attention_impls().size() - 1))
    if (impl.accepts(args, cpu::isa())) impls.push_back(impl);
  for (const AttentionImpl* impl : {&emulated_attention(), &vector_attention()})
    if (impl->accepts(args, cpu::isa())) impls.push_back(*impl);
  return impls;
}

template <class Test>
inline void for_each_fast_impl(const Test& test) {
  for (const DType type : kFormats)
    for (const AttentionImpl& impl : fast_impls(type)) {
      SCOPED_TRACE(fmt::format("{} {}", impl.name, name_of(type)));
      test(impl, type);
    }
}

inline void run(const AttentionImpl& impl, Problem& problem) {
  impl.forward(problem.args());
  impl.backward(problem.args(), problem.grads());
}

// Every implementation against the reference; backward from the reference's out and lse.
inline void compare(const Setting& setting) {
  SCOPED_TRACE(setting.text());
  Problem want(setting);
  run(reference(), want);
  ASSERT_TRUE(want.canaries_live());
  for (const AttentionImpl& impl : fast_impls(setting.type)) {
    SCOPED_TRACE(impl.name);
    Problem got(setting);
    impl.forward(got.args());
    expect_near(got.out, want.out, tolerance(setting.type), "out");
    expect_near(got.lse, want.lse, 1e-5f, "lse");
    got.out = want.out;
    got.lse = want.lse;
    impl.backward(got.args(), got.grads());
    expect_near(got.dqkv, want.dqkv, 3 * tolerance(setting.type), "gradients");
    EXPECT_TRUE(got.canaries_live());
  }
}

}  // namespace hearth::kernels::attention_tests
