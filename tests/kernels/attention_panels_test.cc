#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/attention_panels_test.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <gtest/gtest.h>
#include <hwy/foreach_target.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hearth/kernels/attention/panels.h"
#include "hearth/kernels/attention/panels_backward-inl.h"
#include "hearth/kernels/attention/panels_forward-inl.h"
#include "hearth/kernels/simd/vector_tiles.h"
#include "tests/kernels/attention_emulated.h"
#include "tests/kernels/emulated_tiles.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

void exp2_all(std::vector<float>& values) {
  for (float& x : values) x = hn::GetLane(exp2_where(0xffff, hn::Set(F32(), x)));
}

void dropout_masks(const Dropout& dropout, std::uint32_t sample, std::uint32_t block, std::uint32_t row,
                   std::uint16_t* masks, std::int64_t step) {
  DropoutMasks(dropout, sample, block).of_row(row, masks, step);
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace hearth::kernels {
namespace {

bool has_bf16() { return cpu::isa() >= cpu::Isa::avx512_bf16; }

constexpr AttentionImpl kEmulated{
    "amx, emulated",
    [](const AttentionArgs& args, cpu::Isa isa) { return args.type != DType::f32 && isa >= cpu::Isa::avx512_bf16; },
    [](const AttentionArgs& args) { N_AVX3::panels_forward_all<EmulatedTiles>(args); },
    [](const AttentionArgs& args, const AttentionGradArgs& grads) {
      N_AVX3::panels_backward_all<EmulatedTiles>(args, grads);
    },
    attention_amx_mask_bytes};

constexpr AttentionImpl kVectors{
    "avx512_bf16, vectors",
    [](const AttentionArgs& args, cpu::Isa isa) { return args.type == DType::bf16 && isa >= cpu::Isa::avx512_bf16; },
    [](const AttentionArgs& args) { N_AVX3::panels_forward_all<panels::VectorTiles>(args); },
    [](const AttentionArgs& args, const AttentionGradArgs& grads) {
      N_AVX3::panels_backward_all<panels::VectorTiles>(args, grads);
    }};

TEST(AttentionPanels, PowersOfTwo) {
  if (!has_bf16()) GTEST_SKIP() << "needs AVX512-BF16, the instruction set in use is " << name_of(cpu::isa());
  std::vector<float> x;
  for (int i = 0; i <= 100000; ++i) x.push_back(-130.0f + 131.0f * static_cast<float>(i) / 100000.0f);
  for (float tiny = 1; tiny > 1e-30f; tiny /= 3) x.insert(x.end(), {tiny, -tiny});
  std::vector<float> y = x;
  N_AVX3::exp2_all(y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = std::exp2(static_cast<double>(x[i]));
    ASSERT_NEAR(y[i], want, 3e-7 * want + 1e-45) << x[i];
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> special{0, -200, -1e30f, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  N_AVX3::exp2_all(special);
  EXPECT_EQ(special[0], 1);
  EXPECT_EQ(special[1], 0);
  EXPECT_EQ(special[2], 0);
  EXPECT_EQ(special[3], 0);
  EXPECT_TRUE(std::isnan(special[4]));
}

TEST(AttentionPanels, DropoutMasks) {
  if (!has_bf16()) GTEST_SKIP() << "needs AVX512-BF16, the instruction set in use is " << name_of(cpu::isa());
  for (const float p : {1e-7f, 0.1f, 0.5f, 0.999f})
    for (const std::uint32_t sample : {0u, 1u, 4000000000u})
      for (const std::uint32_t block : {0u, 1u, 7u})
        for (const std::uint32_t row : {0u, 1u, 383u, 11u * std::uint32_t{kDropoutPositions} + 500}) {
          const Dropout dropout{p, philox_key(5, sample, row)};
          for (const std::int64_t step : {1, 5}) {
            std::vector<std::uint16_t> masks(static_cast<std::size_t>(8 * step));
            N_AVX3::dropout_masks(dropout, sample, block, row, masks.data(), step);
            for (std::uint32_t i = 0; i < 128; ++i)
              ASSERT_EQ(masks[i / 16 * step] >> i % 16 & 1, dropout_keeps(dropout, sample, row, 128 * block + i)) << i;
          }
        }
}

TEST(AttentionPanels, KeepsABitPerQueryAndKey) {
  const std::vector<std::int64_t> starts{0, 384, 384, 385, 518}, keys{384, 0, 1, 129};
  const std::vector<std::uint32_t> samples{0, 1, 2, 3};
  AttentionArgs args;
  args.sequences = {starts, keys, samples};
  args.heads = 12;
  for (const DType type : {DType::bf16, DType::f16}) {
    args.type = type;
    args.dropout.p = 0;
    EXPECT_EQ(attention_amx_mask_bytes(args), 0) << "without dropout";
    args.dropout.p = 0.1f;
    EXPECT_EQ(attention_amx_mask_bytes(args), 12 * (384 * 384 + 0 + 128 * 32 + 256 * 160) / 8);
    EXPECT_EQ(attention_mask_bytes(args), cpu::isa() == cpu::Isa::amx ? attention_amx_mask_bytes(args) : 0);
  }
  for (const AttentionImpl& impl : attention_impls()) EXPECT_EQ(impl.mask_bytes != nullptr, impl.name == "amx");
  args.type = DType::f32;
  EXPECT_EQ(attention_mask_bytes(args), 0);
}

TEST(AttentionPanels, KeepsNoMasksOfLongSequences) {
  AttentionArgs args;
  args.type = DType::bf16;
  args.heads = 12;
  args.dropout.p = 0.1f;
  const auto bytes = [&](std::int64_t length) {
    const std::vector<std::int64_t> starts{0, 128, 128 + length}, keys{128, length};
    const std::vector<std::uint32_t> samples{0, 1};
    args.sequences = {starts, keys, samples};
    return attention_amx_mask_bytes(args);
  };
  EXPECT_EQ(bytes(2048), 12 * (128 * 128 + 2048 * 2048) / 8);
  EXPECT_EQ(bytes(2049), 0);
}

TEST(AttentionPanels, OnlyWhereThereIsATileUnit) {
  for (const cpu::Isa isa : cpu::all_isas())
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      AttentionArgs args;
      args.type = type;
      EXPECT_EQ(attention_amx_accepts(args, isa), isa == cpu::Isa::amx && type != DType::f32)
          << name_of(isa) << " " << name_of(type);
      EXPECT_EQ(attention_avx512_bf16_accepts(args, isa),
                isa >= cpu::Isa::avx512_bf16 && type == DType::bf16 && cpu::features().amd)
          << name_of(isa) << " " << name_of(type);
    }
}

}  // namespace

const AttentionImpl& emulated_attention() { return kEmulated; }
const AttentionImpl& vector_attention() { return kVectors; }

}  // namespace hearth::kernels
#endif
