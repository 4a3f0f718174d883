#include "hearth/kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/attention/amx.h"
#include "tests/kernels/attention_emulated.h"
#include "tests/support.h"

namespace hearth::kernels {
namespace {

constexpr DType kFormats[] = {DType::f32, DType::bf16, DType::f16};

float get(DType type, const void* data, std::int64_t i) {
  switch (type) {
    case DType::bf16:
      return static_cast<float>(static_cast<const BFloat16*>(data)[i]);
    case DType::f16:
      return static_cast<float>(static_cast<const Float16*>(data)[i]);
    default:
      return static_cast<const float*>(data)[i];
  }
}

void set(DType type, void* data, std::int64_t i, float value) {
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
float tolerance(DType type) {
  switch (type) {
    case DType::bf16:
      return 1.0f / 128;
    case DType::f16:
      return 1.0f / 1024;
    default:
      return 2e-5f;
  }
}

void expect_near(const Matrix& got, const Matrix& want, float tolerance, std::string_view what) {
  for (std::int64_t i = 0; i < want.rows(); ++i)
    for (std::int64_t j = 0; j < want.cols(); ++j) {
      const float bound = tolerance * (0.5f + std::abs(want.at(i, j)));
      ASSERT_NEAR(got.at(i, j), want.at(i, j), bound) << what << " row " << i << " column " << j;
    }
}

const AttentionImpl& reference() { return attention_impls().back(); }

// Every implementation for the format that this processor has, and the emulation of one that it may not have.
std::vector<AttentionImpl> fast_impls(DType type) {
  AttentionArgs args;
  args.type = type;
  std::vector<AttentionImpl> impls;
  for (const AttentionImpl& impl : attention_impls().first(attention_impls().size() - 1))
    if (impl.accepts(args, cpu::isa())) impls.push_back(impl);
  if (emulated_amx_attention().accepts(args, cpu::isa())) impls.push_back(emulated_amx_attention());
  return impls;
}

template <class Test>
void for_each_fast_impl(const Test& test) {
  for (const DType type : kFormats)
    for (const AttentionImpl& impl : fast_impls(type)) {
      SCOPED_TRACE(fmt::format("{} {}", impl.name, name_of(type)));
      test(impl, type);
    }
}

void run(const AttentionImpl& impl, Problem& problem) {
  impl.forward(problem.args());
  impl.backward(problem.args(), problem.grads());
}

// Every implementation against the reference; backward from the reference's out and lse.
void compare(const Setting& setting) {
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

TEST(Attention, EveryLength) {
  for (const DType type : kFormats)
    for (std::int64_t length = 1; length <= 70; length += length < 34 ? 1 : 3)
      compare({.lengths = {length}, .keys = {length}, .dim = 16, .type = type});
}

TEST(Attention, BlocksOfQueriesAndKeys) {
  for (const DType type : kFormats)
    for (const std::int64_t length : {127, 128, 129, 192, 193, 257, 391})
      compare({.lengths = {length}, .keys = {length - 1}, .dim = 64, .type = type, .dropout = 0.1f});
}

TEST(Attention, HeadSizes) {
  for (const DType type : kFormats)
    for (const std::int64_t dim : {1, 8, 12, 16, 33, 64, 80, 256})
      for (const std::int64_t heads : {1, 4})
        compare({.lengths = {19, 5}, .keys = {19, 5}, .heads = heads, .dim = dim, .type = type, .gap = 5});
}

TEST(Attention, PaddedSequences) {
  for (const DType type : kFormats)
    for (const float dropout : {0.0f, 0.1f, 0.5f})
      compare({.lengths = {40, 1, 0, 140, 7, 23},
               .keys = {33, 1, 0, 131, 1, 23},
               .heads = 3,
               .dim = 12,
               .type = type,
               .dropout = dropout,
               .gap = 3});
}

// Lengths and head sizes around whole tiles, alone and before a sequence with padding.
TEST(Attention, WholeAndPartialTiles) {
  for (const DType type : {DType::bf16, DType::f16})
    for (const std::int64_t length : {1, 31, 32, 33, 200})
      for (const std::int64_t dim : {32, 48, 64})
        compare({.lengths = {length, 40},
                 .keys = {length, 33},
                 .heads = 2,
                 .dim = dim,
                 .type = type,
                 .dropout = 0.1f,
                 .gap = 3});
}

TEST(Attention, LongSequence) {
  for (const DType type : kFormats)
    compare({.lengths = {1100}, .keys = {1100}, .dim = 8, .type = type, .dropout = 0.1f});
}

TEST(Attention, NoSequences) {
  for (const DType type : kFormats) compare({.lengths = {}, .keys = {}, .type = type});
}

TEST(Attention, GradientsOfPaddingAreZero) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {9, 20}, .keys = {4, 1}, .heads = 2, .dim = 16, .type = type});
    run(impl, problem);
    for (std::int64_t s = 0; s < 2; ++s)
      for (std::int64_t i = problem.starts[s] + problem.setting.keys[s]; i < problem.starts[s + 1]; ++i)
        for (std::int64_t j = problem.width; j < 3 * problem.width; ++j) ASSERT_EQ(problem.dqkv.at(i, j), 0);
  });
}

TEST(Attention, LargeScores) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {50}, .keys = {47}, .dim = 16, .type = type});
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t j = 0; j < 32; ++j) problem.qkv.put(i, j, 100 * problem.qkv.at(i, j));
    Problem want = problem;
    run(impl, problem);
    reference().forward(want.args());
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t j = 0; j < 48; ++j) ASSERT_TRUE(std::isfinite(problem.dqkv.at(i, j)));
    expect_near(problem.out, want.out, 0.05f, "out");
  });
}

// Padding must not stand in for the largest score.
TEST(Attention, AllScoresFarBelowZero) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {40}, .keys = {37}, .dim = 16, .type = type});
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 32; ++j)
        problem.qkv.put(i, j, (j < 16 ? 20.0f : -20.0f) + std::round(4 * problem.qkv.at(i, j)) / 8);
    Problem want = problem;
    run(impl, problem);
    run(reference(), want);
    expect_near(problem.out, want.out, 2 * tolerance(type), "out");
    expect_near(problem.lse, want.lse, 1e-5f, "lse");
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 48; ++j) ASSERT_TRUE(std::isfinite(problem.dqkv.at(i, j)));
  });
}

TEST(Attention, NanIsNotHidden) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {40, 30}, .keys = {40, 30}, .dim = 16, .type = type});
    problem.qkv.put(3, 5, std::numeric_limits<float>::quiet_NaN());
    run(impl, problem);
    EXPECT_TRUE(std::isnan(problem.out.at(3, 0)));
    EXPECT_TRUE(std::isnan(problem.dqkv.at(3, 0)));
    EXPECT_FALSE(std::isnan(problem.out.at(4, 0)));
    EXPECT_FALSE(std::isnan(problem.dqkv.at(40, 0)));
  });
}

// A gradient beyond fp16's range skips the step of a loss scaler, so it must not vanish on its way.
TEST(Attention, NonFiniteGradientIsNotHidden) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    for (const float value : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()})
      for (const float dropout : {0.0f, 0.1f}) {
        SCOPED_TRACE(fmt::format("{} dropout {}", value, dropout));
        Problem problem({.lengths = {40, 30}, .keys = {40, 30}, .dim = 48, .type = type, .dropout = dropout});
        problem.dout.put(35, 33, value);
        run(impl, problem);
        const auto is_finite = [&](std::int64_t row, std::int64_t col) {
          return std::isfinite(problem.dqkv.at(row, col));
        };
        for (std::int64_t d = 0; d < 48; ++d) {
          EXPECT_FALSE(is_finite(35, d)) << "dq, column " << d;
          EXPECT_TRUE(is_finite(34, d) && is_finite(40, d));
          for (std::int64_t i = 0; i < 40; ++i) EXPECT_FALSE(is_finite(i, 48 + d)) << "dk, row " << i;
          EXPECT_TRUE(is_finite(40, 48 + d) && is_finite(40, 96 + d));
        }
        std::int64_t hidden = 0;
        for (std::int64_t i = 0; i < 40; ++i) hidden += is_finite(i, 96 + 33);
        EXPECT_LE(hidden, dropout == 0 ? 0 : 20) << "dv";
        EXPECT_TRUE(is_finite(3, 96 + 32));
      }
  });
}

TEST(Attention, NonFiniteInputsAreNotHidden) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    for (const float value : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      SCOPED_TRACE(value);
      Problem problem({.lengths = {40, 30}, .keys = {40, 30}, .dim = 16, .type = type});
      problem.qkv.put(3, 32 + 5, value);  // of v: it reaches every query
      run(impl, problem);
      for (std::int64_t i = 0; i < 40; ++i) {
        EXPECT_FALSE(std::isfinite(problem.out.at(i, 5)));
        EXPECT_TRUE(std::isfinite(problem.out.at(i, 4)));
        EXPECT_FALSE(std::isfinite(problem.dqkv.at(i, 0)));
      }
      EXPECT_TRUE(std::isfinite(problem.out.at(40, 5)));
    }
  });
}

// All queries look at one key alone, whose value is fp16's largest number: it stays finite. Divided by dropout's 1 - p
// it is beyond the range.
TEST(Attention, OverflowOfFp16) {
  constexpr std::int64_t kLength = 70, kDim = 16;
  for (const AttentionImpl& impl : fast_impls(DType::f16))
    for (const float dropout : {0.0f, 0.5f}) {
      SCOPED_TRACE(fmt::format("{} dropout {}", impl.name, dropout));
      Problem problem({.lengths = {kLength}, .keys = {kLength}, .dim = kDim, .type = DType::f16, .dropout = dropout});
      for (std::int64_t i = 0; i < kLength; ++i)
        for (std::int64_t d = 0; d < kDim; ++d) {
          problem.qkv.put(i, d, 200);
          problem.qkv.put(i, kDim + d, i == 9 ? 200.0f : 0.0f);
          problem.qkv.put(i, 2 * kDim + d, 65504);
          problem.dout.put(i, d, 65504);
        }
      Problem want = problem;
      run(impl, problem);
      run(reference(), want);
      std::int64_t infinities = 0;
      for (std::int64_t i = 0; i < kLength; ++i) {
        ASSERT_EQ(problem.out.at(i, 0), want.out.at(i, 0)) << "query " << i;
        infinities += std::isinf(want.out.at(i, 0));
        for (std::int64_t j = 0; j < 3 * kDim; ++j)
          ASSERT_TRUE(std::isfinite(want.dqkv.at(i, j)) || !std::isfinite(problem.dqkv.at(i, j))) << i << " " << j;
      }
      EXPECT_EQ(infinities > 20, dropout > 0);
      EXPECT_FALSE(std::isfinite(problem.dqkv.at(9, 2 * kDim))) << "dv, a sum of 70 numbers of 65504";
    }
}

// The result is that of f32 arithmetic, rounded to fp16, also where operands of the matmuls are two bf16 parts: these
// leave out 2^-16 of each term at most.
TEST(Attention, Fp16IsAsExactAsItsRounding) {
  const auto expect_rounded = [](const Matrix& got, const Matrix& want, float error, std::string_view what) {
    for (std::int64_t i = 0; i < want.rows(); ++i)
      for (std::int64_t j = 0; j < want.cols(); ++j)
        ASSERT_NEAR(got.at(i, j), want.at(i, j), error + std::abs(want.at(i, j)) / 2048)
            << what << " row " << i << " column " << j;
  };
  for (const AttentionImpl& impl : fast_impls(DType::f16)) {
    SCOPED_TRACE(impl.name);
    Setting setting{
        .lengths = {200, 33}, .keys = {200, 31}, .heads = 2, .dim = 64, .type = DType::f16, .dropout = 0.1f};
    Problem got(setting);
    setting.type = DType::f32;
    Problem want(setting);
    const auto copy = [](const Matrix& from, Matrix& to) {
      for (std::int64_t i = 0; i < from.rows(); ++i)
        for (std::int64_t j = 0; j < from.cols(); ++j) to.put(i, j, from.at(i, j));
    };
    copy(got.qkv, want.qkv);
    copy(got.dout, want.dout);
    impl.forward(got.args());
    reference().forward(want.args());
    expect_rounded(got.out, want.out, 4e-6f, "out");
    copy(got.out, want.out);
    impl.backward(got.args(), got.grads());
    reference().backward(want.args(), want.grads());
    expect_rounded(got.dqkv, want.dqkv, 2e-5f, "gradients");
  }
}

TEST(Attention, NanDoesNotLingerInScratch) {
  cpu::set_num_threads(1);
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {80}, .keys = {80}, .dim = 48, .type = type});
    for (std::int64_t i = 0; i < 80; ++i)
      for (std::int64_t j = 0; j < problem.qkv.cols(); ++j)
        problem.qkv.put(i, j, std::numeric_limits<float>::quiet_NaN());
    run(impl, problem);
    compare({.lengths = {33}, .keys = {31}, .dim = 45, .type = type});
  });
  cpu::set_num_threads(0);
}

TEST(Attention, SameBitsForAnyNumberOfThreads) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    const Setting setting{.lengths = {200, 3, 77, 500, 64, 1, 300},
                          .keys = {200, 2, 77, 490, 64, 1, 299},
                          .heads = 3,
                          .dim = 16,
                          .type = type,
                          .dropout = 0.1f};
    const auto with_threads = [&](int threads) {
      cpu::set_num_threads(threads);
      Problem problem(setting);
      run(impl, problem);
      return problem;
    };
    const Problem one = with_threads(1);
    for (const int threads : {2, 8, 16}) {
      const Problem many = with_threads(threads);
      EXPECT_EQ(many.out.bytes(), one.out.bytes()) << threads << " threads";
      EXPECT_EQ(many.lse.bytes(), one.lse.bytes()) << threads << " threads";
      EXPECT_EQ(many.dqkv.bytes(), one.dqkv.bytes()) << threads << " threads";
    }
    cpu::set_num_threads(0);
  });
}

// Memory for the masks of a problem, with a guard on either side.
class MaskMemory {
 public:
  MaskMemory(std::int64_t bytes, std::uint16_t fill)
      : words_(static_cast<std::size_t>(bytes) / sizeof(std::uint16_t) + 2 * kGuard, kCanary) {
    this->fill(fill);
  }

  std::uint16_t* data() { return words_.data() + kGuard; }
  std::vector<std::uint16_t> contents() const { return {words_.begin() + kGuard, words_.end() - kGuard}; }
  void fill(std::uint16_t word) { std::fill(words_.begin() + kGuard, words_.end() - kGuard, word); }
  bool canaries_live() const {
    const auto is_canary = [](std::uint16_t word) { return word == kCanary; };
    return std::all_of(words_.begin(), words_.begin() + kGuard, is_canary) &&
           std::all_of(words_.end() - kGuard, words_.end(), is_canary);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::uint16_t kCanary = 0x5a5a;
  std::vector<std::uint16_t> words_;
};

// The implementations that keep dropout's decisions, the emulated one included.
template <class Test>
void for_each_impl_with_masks(const Test& test) {
  for_each_fast_impl([&](const AttentionImpl& impl, DType type) {
    if (impl.mask_bytes != nullptr) test(impl, type);
  });
}

TEST(Attention, KeptMasksChangeNoBit) {
  for_each_impl_with_masks([](const AttentionImpl& impl, DType type) {
    std::vector<Setting> settings;
    for (const std::int64_t length : {1, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 193, 256, 257, 391})
      settings.push_back({.lengths = {length}, .keys = {length}, .dim = 16, .type = type, .dropout = 0.1f});
    for (const float dropout : {0.0f, 1e-7f, 0.1f, 0.5f})
      settings.push_back({.lengths = {40, 1, 0, 140, 7, 600, 23},
                          .keys = {33, 1, 0, 131, 1, 513, 23},
                          .heads = 3,
                          .dim = 12,
                          .type = type,
                          .dropout = dropout,
                          .gap = 3});
    settings.push_back({.lengths = {}, .keys = {}, .type = type, .dropout = 0.1f});
    for (const Setting& setting : settings) {
      SCOPED_TRACE(setting.text());
      Problem again(setting);
      run(impl, again);
      for (const int threads : {1, 8}) {
        cpu::set_num_threads(threads);
        Problem kept(setting);
        const std::int64_t bytes = impl.mask_bytes(kept.args());
        EXPECT_EQ(bytes > 0, setting.dropout > 0 && !setting.lengths.empty());
        MaskMemory masks(bytes, 0xffff), others(bytes, 0);
        AttentionArgs args = kept.args();
        args.masks = others.data();
        impl.forward(args);
        args.masks = masks.data();
        impl.forward(args);
        impl.backward(args, kept.grads());
        EXPECT_EQ(kept.out.bytes(), again.out.bytes());
        EXPECT_EQ(kept.lse.bytes(), again.lse.bytes());
        EXPECT_EQ(kept.dqkv.bytes(), again.dqkv.bytes());
        EXPECT_EQ(masks.contents(), others.contents()) << "forward leaves masks unwritten";
        EXPECT_TRUE(masks.canaries_live() && others.canaries_live());
        EXPECT_TRUE(kept.canaries_live());
      }
      cpu::set_num_threads(0);
    }
  });
}

// P with all elements dropped has no part in dV.
TEST(Attention, BackwardReadsTheKeptMasks) {
  for_each_impl_with_masks([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {200, 30}, .keys = {190, 30}, .heads = 2, .dim = 16, .type = type, .dropout = 0.1f});
    AttentionArgs args = problem.args();
    MaskMemory masks(impl.mask_bytes(args), 0xffff);
    args.masks = masks.data();
    impl.forward(args);
    masks.fill(0);
    impl.backward(args, problem.grads());
    for (std::int64_t i = 0; i < problem.tokens; ++i)
      for (std::int64_t j = 2 * problem.width; j < 3 * problem.width; ++j) ASSERT_EQ(problem.dqkv.at(i, j), 0);
  });
}

TEST(Attention, DoesNotDependOnPacking) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    const Setting together{
        .lengths = {130, 40}, .keys = {130, 33}, .heads = 2, .dim = 16, .type = type, .dropout = 0.2f};
    Problem both(together);
    run(impl, both);
    Problem second({.lengths = {40}, .keys = {33}, .heads = 2, .dim = 16, .type = type, .dropout = 0.2f});
    second.samples[0] = both.samples[1];
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t j = 0; j < second.qkv.cols(); ++j) second.qkv.put(i, j, both.qkv.at(130 + i, j));
      for (std::int64_t j = 0; j < second.width; ++j) second.dout.put(i, j, both.dout.at(130 + i, j));
    }
    run(impl, second);
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t j = 0; j < second.width; ++j) ASSERT_EQ(second.out.at(i, j), both.out.at(130 + i, j));
      for (std::int64_t j = 0; j < second.qkv.cols(); ++j) ASSERT_EQ(second.dqkv.at(i, j), both.dqkv.at(130 + i, j));
    }
  });
}

using Complex = std::complex<double>;

// The sum of dout * out as a function of q, k and v, written for numbers of which derivatives can be read off.
Complex loss(Problem& problem, const std::vector<Complex>& qkv) {
  const AttentionArgs args = problem.args();
  const std::int64_t cols = 3 * problem.width, dim = args.head_dim;
  Complex total = 0;
  for (std::int64_t s = 0; s < args.sequences.count(); ++s)
    for (std::int64_t h = 0; h < args.heads; ++h)
      for (std::int64_t i = problem.starts[s]; i < problem.starts[s + 1]; ++i) {
        Complex sum = 0, weighted = 0;
        for (std::int64_t j = problem.starts[s]; j < problem.starts[s] + problem.setting.keys[s]; ++j) {
          Complex score = 0, gain = 0;
          for (std::int64_t d = h * dim; d < (h + 1) * dim; ++d) {
            score += qkv[i * cols + d] * qkv[j * cols + problem.width + d];
            gain += static_cast<double>(problem.dout.at(i, d)) * qkv[j * cols + 2 * problem.width + d];
          }
          const Complex weight = std::exp(static_cast<double>(args.scale) * score);
          sum += weight;
          if (dropout_keeps(args.dropout, problem.samples[s],
                            static_cast<std::uint32_t>(h * kDropoutPositions + i - problem.starts[s]),
                            static_cast<std::uint32_t>(j - problem.starts[s])))
            weighted += weight * gain * static_cast<double>(args.dropout.scale());
        }
        total += weighted / sum;
      }
  return total;
}

TEST(Attention, ReferenceGradientsByComplexStep) {
  Problem problem({.lengths = {5, 1, 4}, .keys = {3, 1, 4}, .heads = 2, .dim = 3, .dropout = 0.3f});
  reference().forward(problem.args());
  reference().backward(problem.args(), problem.grads());
  const std::int64_t cols = 3 * problem.width;
  std::vector<Complex> qkv;
  double out_times_dout = 0;
  for (std::int64_t i = 0; i < problem.tokens; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) qkv.emplace_back(problem.qkv.at(i, j));
    for (std::int64_t j = 0; j < problem.width; ++j)
      out_times_dout += static_cast<double>(problem.out.at(i, j)) * problem.dout.at(i, j);
  }
  EXPECT_NEAR(loss(problem, qkv).real(), out_times_dout, 1e-5);
  constexpr double kStep = 1e-30;
  for (std::int64_t i = 0; i < problem.tokens; ++i)
    for (std::int64_t j = 0; j < cols; ++j) {
      std::vector<Complex> shifted = qkv;
      shifted[i * cols + j] += Complex(0, kStep);
      ASSERT_NEAR(problem.dqkv.at(i, j), loss(problem, shifted).imag() / kStep, 2e-6) << i << " " << j;
    }
}

TEST(Attention, RefusesSequencesWithoutKeys) {
  Problem none({.lengths = {4}, .keys = {0}}), more({.lengths = {4}, .keys = {5}});
  EXPECT_THROW(attention_forward(none.args()), Error);
  EXPECT_THROW(attention_backward(more.args(), more.grads()), Error);
}

TEST(Attention, RefusesSequencesTooLongForDropout) {
  static_assert(kDropoutPositions == 65536, "another number changes the masks of every run");
  const auto refusal = [](std::int64_t length, float dropout) {
    Problem problem({.lengths = {3, length}, .keys = {1, 1}, .heads = 2, .dim = 1, .dropout = dropout});
    return error_of([&] { attention_forward(problem.args()); });
  };
  EXPECT_EQ(refusal(kDropoutPositions, 0.1f), "");
  EXPECT_EQ(refusal(kDropoutPositions + 1, 0), "");
  EXPECT_EQ(refusal(kDropoutPositions + 1, 0.1f),
            "[attention] sequence 1 has 65537 tokens; dropout of attention takes 65536 at most: cut the sequence, or "
            "set the model's attention dropout to 0");
}

TEST(Attention, FastOneIsChosen) {
  for (const DType type : kFormats) {
    AttentionArgs args;
    args.type = type;
    EXPECT_NE(choose_attention(args, cpu::isa()).name, reference().name);
  }
}

}  // namespace
}  // namespace hearth::kernels
