#include "hearth/kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "tests/kernels/attention_problem.h"
#include "tests/support.h"

namespace hearth::kernels {
namespace {

using namespace attention_tests;

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

// Sequences of at most 16 tokens, the rows of one tile, and longer ones in the same batch.
TEST(Attention, ShortSequences) {
  for (const DType type : kFormats)
    for (const std::int64_t heads : {1, 2, 3, 4})
      for (const std::int64_t dim : {12, 32, 64})
        for (const float dropout : {0.0f, 0.1f})
          compare({.lengths = {1, 7, 15, 16, 17, 2, 33},
                   .keys = {1, 7, 11, 16, 16, 1, 30},
                   .heads = heads,
                   .dim = dim,
                   .type = type,
                   .dropout = dropout,
                   .gap = 3});
}

// Each head alone, as a problem of one head on the same numbers.
TEST(Attention, HeadsDoNotChangeEachOthersBits) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem together(
        {.lengths = {1, 5, 13, 16, 17, 40}, .keys = {1, 5, 9, 16, 17, 33}, .heads = 3, .dim = 64, .type = type});
    run(impl, together);
    for (std::int64_t head = 0; head < 3; ++head) {
      SCOPED_TRACE(head);
      Setting setting = together.setting;
      setting.heads = 1;
      Problem alone(setting);
      for (std::int64_t i = 0; i < alone.tokens; ++i)
        for (std::int64_t j = 0; j < setting.dim; ++j) {
          const std::int64_t column = head * setting.dim + j;
          for (std::int64_t part = 0; part < 3; ++part)
            alone.qkv.put(i, part * setting.dim + j, together.qkv.at(i, part * together.width + column));
          alone.dout.put(i, j, together.dout.at(i, column));
        }
      run(impl, alone);
      for (std::int64_t i = 0; i < alone.tokens; ++i) {
        ASSERT_EQ(alone.lse.at(0, i), together.lse.at(head, i));
        for (std::int64_t j = 0; j < setting.dim; ++j) {
          const std::int64_t column = head * setting.dim + j;
          ASSERT_EQ(alone.out.at(i, j), together.out.at(i, column)) << "row " << i;
          for (std::int64_t part = 0; part < 3; ++part)
            ASSERT_EQ(alone.dqkv.at(i, part * setting.dim + j), together.dqkv.at(i, part * together.width + column))
                << "row " << i << " part " << part;
        }
      }
    }
  });
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
