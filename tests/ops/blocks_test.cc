// Linear layers whose activations are in blocks (Layout::blocks), against the same matmuls on rows, bit for bit. Where
// the processor has no tile instructions they are emulated.

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "hearth/cpu/memory.h"
#include "hearth/kernels/gemm/panel_gemm.h"
#include "hearth/kernels/gemm/panel_product-inl.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/finite_check.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/linear_matmuls.h"
#include "tests/kernels/emulated_tiles.h"
#include "tests/ops/op_case.h"
#include "tests/support.h"

namespace hearth::ops {
namespace {

using kernels::Activation;
using kernels::GemmImpl;

const GemmImpl& tiles(kernels::Layout layout) {
  const auto impl = [](bool takes_blocks) {
    const bool has_tiles = cpu::isa() >= cpu::Isa::amx;
    return GemmImpl{.name = "tiles",
                    .accepts = [](DType, cpu::Isa) { return true; },
                    .run = has_tiles ? kernels::amx_gemm : kernels::panels::run_together<kernels::EmulatedTiles>,
                    .takes_bf16_blocks = takes_blocks,
                    .packed_bytes = kernels::panel_bytes,
                    .pack = kernels::pack_panels};
  };
  static const GemmImpl on_rows = impl(false), on_blocks = impl(true);
  return layout == kernels::Layout::blocks ? on_blocks : on_rows;
}

class Blocks : public testing::Test {
  void SetUp() override {
    if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  }
};

constexpr std::int64_t kTokens = kManyTokens + 5;  // the last block is not full
constexpr std::int64_t kManyOutputs = 1152;        // so many that the input is copied

Outcome run_in(kernels::Layout layout, const OpCase& test) {
  const kernels::ForcedGemm forced(DType::bf16, tiles(layout));
  return run(test);
}

void expect_same_bits(OpCase test) {
  test.input_type = DType::bf16;
  EXPECT_TRUE(run_in(kernels::Layout::blocks, test) == run_in(kernels::Layout::rows, test));
}

// x + feed_forward(x), as in an encoder: two gradients of x add up. `frozen` holds indices of parameters.
OpCase encoder_case(std::int64_t width, std::vector<std::size_t> frozen = {}) {
  OpCase test;
  test.inputs = {{"x", {kTokens, 32}}};
  test.parameters = {{"first.weight", {width, 32}, 0.3f},
                     {"first.bias", {width}},
                     {"second.weight", {32, width}, 0.3f},
                     {"second.bias", {32}}};
  test.frozen = std::move(frozen);
  test.op = [](Context& ctx, auto x, auto p) {
    return add(ctx, x[0], feed_forward(ctx, x[0], {p[0], p[1]}, Activation::gelu, {p[2], p[3]}));
  };
  return test;
}

TEST_F(Blocks, AreUsedByTheseCases) {
  const kernels::ForcedGemm forced(DType::bf16, tiles(kernels::Layout::blocks));
  EXPECT_TRUE(copies_input(DType::bf16, kTokens, 32, kManyOutputs));
  EXPECT_FALSE(copies_input(DType::bf16, kManyTokens - 1, 32, kManyOutputs));
  EXPECT_FALSE(copies_input(DType::bf16, kTokens, 32, kManyOutputs - 1));
  EXPECT_FALSE(copies_input(DType::f16, kTokens, 32, kManyOutputs));
}

TEST_F(Blocks, GiveAFeedForwardLayerTheSameBits) {
  for (const std::int64_t width : {std::int64_t{96}, kManyOutputs}) expect_same_bits(encoder_case(width));
}

TEST_F(Blocks, GiveALinearLayerTheSameBits) {
  OpCase test;
  test.inputs = {{"x", {kTokens, 32}}};
  test.parameters = {{"weight", {kManyOutputs, 32}, 0.3f}, {"bias", {kManyOutputs}}};
  test.op = [](Context& ctx, auto x, auto p) { return linear(ctx, x[0], *p[0], p[1]); };
  expect_same_bits(test);
}

// Backward reads the copy, so the input is freed where nobody else keeps it.
TEST_F(Blocks, ReplaceTheInputThatTheyAreCopiedFrom) {
  const OneThread one_thread;
  const kernels::ForcedGemm forced(DType::bf16, tiles(kernels::Layout::blocks));
  constexpr std::int64_t kInputs = 512;
  ParameterStore store;
  Parameter& first = store.add({{"first", {kManyOutputs, kInputs}, 0}});
  Parameter& second = store.add({{"second", {32, kManyOutputs}, 0}});
  store.allocate();
  store.master().fill_zero();
  const auto kept_arrays = [&](const std::function<Var(Context&, const Var&)>& op) {  // of kTokens x kInputs
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    ctx.compute = DType::bf16;
    const std::size_t before = cpu::pool_stats().in_use_bytes;
    const Var y = op(ctx, Var(Tensor::zeros({kTokens, kInputs}, DType::bf16), true));
    return static_cast<double>(cpu::pool_stats().in_use_bytes - before - y.value().bytes()) / (kTokens * kInputs * 2);
  };
  const auto one_layer = [&](Context& ctx, const Var& x) { return linear(ctx, x, first, nullptr); };
  const auto two_layers = [&](Context& ctx, const Var& x) {
    return feed_forward(ctx, x, {&first, nullptr}, Activation::gelu, {&second, nullptr});
  };
  kept_arrays(two_layers);  // scratch that stays
  EXPECT_NEAR(kept_arrays(one_layer), 1, 0.05);
  EXPECT_NEAR(kept_arrays(two_layers), 1 + double{kManyOutputs} / kInputs, 0.15);
}

TEST_F(Blocks, GiveFrozenLayersTheSameBits) {
  for (const std::vector<std::size_t>& frozen :
       {std::vector<std::size_t>{0}, {1}, {0, 1}, {2}, {2, 3}, {0, 2}, {0, 1, 2, 3}}) {
    SCOPED_TRACE(testing::PrintToString(frozen));
    expect_same_bits(encoder_case(96, frozen));
  }
}

TEST_F(Blocks, GiveGradientsThatAddUpTheSameBits) {
  OpCase test = encoder_case(96);
  test.passes = 2;
  expect_same_bits(test);
}

TEST_F(Blocks, GiveTheSameBitsForAnyNumberOfThreads) {
  const kernels::ForcedGemm forced(DType::bf16, tiles(kernels::Layout::blocks));
  OpCase test = encoder_case(kManyOutputs);
  test.input_type = DType::bf16;
  expect_same_for_any_threads(test);
}

// The check reads the rows that fill up the last block, too, and the memory of these may hold anything.
TEST_F(Blocks, HideNoNanFromTheFiniteCheckAndInventNone) {
  const kernels::ForcedGemm forced(DType::bf16, tiles(kernels::Layout::blocks));
  constexpr std::int64_t kWidth = 96;
  const auto found = [](float weight) {
    ParameterStore store;
    Parameter& first = store.add({{"intermediate.weight", {kWidth, 32}, 0}});
    Parameter& second = store.add({{"output.weight", {32, kWidth}, 0}});
    store.allocate();
    kernels::fill(DType::f32, first.master.size(), weight, first.master.raw());
    kernels::fill(DType::f32, second.master.size(), 0.1f, second.master.raw());
    const Tensor x({kTokens, 32}, DType::bf16);
    kernels::fill(DType::bf16, x.size(), 1, x.raw());
    {
      const MatmulOperand one(kTokens, kWidth, DType::bf16, kernels::Layout::blocks),
          other(kTokens, kWidth, DType::bf16, kernels::Layout::blocks);
      for (const MatmulOperand& before : {one, other})
        kernels::fill(DType::bf16, before.values.size(), std::numeric_limits<float>::quiet_NaN(), before.values.raw());
    }
    FiniteCheck check(FiniteCheck::Scope::values);
    Context ctx;
    ctx.compute = DType::bf16;
    ctx.finite_check = &check;
    feed_forward(ctx, Var(x), {&first, nullptr}, Activation::gelu, {&second, nullptr});
    return check.found();
  };
  EXPECT_EQ(found(0.1f), "");
  EXPECT_NE(found(std::numeric_limits<float>::infinity()), "");
  EXPECT_NE(found(-std::numeric_limits<float>::infinity()), "");
}

}  // namespace
}  // namespace hearth::ops
