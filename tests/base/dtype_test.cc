#include "hearth/base/dtype.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace hearth {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of a 16-bit pattern by definition; infinity's place counts as the next power of two, so that the
// halfway point to it is right.
double value_of(std::uint32_t magnitude, int fraction_bits, int bias) {
  const int exponent = static_cast<int>(magnitude >> fraction_bits);
  const double fraction = std::ldexp(magnitude & ((1u << fraction_bits) - 1), -fraction_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

double bf16_value(std::uint32_t magnitude) { return value_of(magnitude, 7, 127); }
double f16_value(std::uint32_t magnitude) { return value_of(magnitude, 10, 15); }

// Every pair of neighbours: the values themselves, the tie between them and its float neighbours.
template <class Number>
void expect_nearest_even(double (*value)(std::uint32_t), std::uint32_t infinity) {
  for (std::uint32_t low = 0; low < infinity; ++low) {
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const float flip = sign != 0 ? -1.0f : 1.0f;
      const auto rounded = [&](float x) { return Number::round(flip * x); };
      ASSERT_EQ(rounded(static_cast<float>(value(low))), low | sign);
      const auto tie = static_cast<float>(value(low) / 2 + value(low + 1) / 2);
      if (tie == static_cast<float>(value(low))) continue;  // below the smallest float
      const std::uint32_t even = low % 2 == 0 ? low : low + 1;
      ASSERT_EQ(rounded(tie), even | sign) << "between " << low << " and " << low + 1;
      ASSERT_EQ(rounded(std::nextafter(tie, 0.0f)), low | sign);
      ASSERT_EQ(rounded(std::nextafter(tie, kInfinity)), (low + 1) | sign);
    }
  }
}

TEST(BFloat16, EveryPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    BFloat16 number;
    number.bits = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(number);
    if (std::isnan(value)) {
      ASSERT_GT(bits & 0x7fff, 0x7f80u);
      ASSERT_TRUE(std::isnan(static_cast<float>(BFloat16(value))));
      ASSERT_EQ(BFloat16(value).bits & 0x8000, bits & 0x8000);
    } else {
      ASSERT_EQ(BFloat16(value).bits, bits);
      if (std::isfinite(value)) {
        ASSERT_EQ(std::abs(value), bf16_value(bits & 0x7fff));
      }
    }
  }
}

TEST(BFloat16, RoundsToNearestEven) { expect_nearest_even<BFloat16>(bf16_value, 0x7f80); }

TEST(BFloat16, NanWhosePayloadIsInTheLostBitsStaysNan) {
  for (const std::uint32_t word : {0x7f800001u, 0xff800001u, 0x7f80ffffu, 0x7fffffffu})
    EXPECT_GT(BFloat16::round(std::bit_cast<float>(word)) & 0x7fff, 0x7f80) << word;
}

TEST(BFloat16, LargestFloatBecomesInfinity) {
  EXPECT_EQ(BFloat16::round(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(BFloat16::round(-kInfinity), 0xff80);
}

TEST(Float16, EveryPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = Float16::widen(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      ASSERT_GT(bits & 0x7fff, 0x7c00u);
      ASSERT_TRUE(std::isnan(static_cast<float>(Float16(value))));
      ASSERT_EQ(Float16(value).bits & 0x8000, bits & 0x8000);
    } else {
      ASSERT_EQ(Float16(value).bits, bits);
      if (std::isfinite(value)) {
        ASSERT_EQ(std::abs(value), f16_value(bits & 0x7fff));
      }
    }
  }
}

TEST(Float16, RoundsToNearestEven) { expect_nearest_even<Float16>(f16_value, 0x7c00); }

TEST(Float16, Ends) {
  EXPECT_EQ(Float16::round(65504.0f), 0x7bff);
  EXPECT_EQ(Float16::round(65519.996f), 0x7bff);
  EXPECT_EQ(Float16::round(65520.0f), 0x7c00);
  EXPECT_EQ(Float16::round(70000.0f), 0x7c00);
  EXPECT_EQ(Float16::round(-kInfinity), 0xfc00);
  EXPECT_EQ(Float16::round(0x1p-24f), 0x0001);
  EXPECT_EQ(Float16::round(0x1p-25f), 0x0000);
  EXPECT_EQ(Float16::round(-0.0f), 0x8000);
  EXPECT_EQ(Float16::round(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_GT(Float16::round(std::bit_cast<float>(0x7f800001u)) & 0x7fff, 0x7c00);
}

__attribute__((target("f16c"))) std::uint16_t hardware_round(float value) {
  return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT), 0));
}

__attribute__((target("f16c"))) float hardware_widen(std::uint16_t bits) { return _cvtsh_ss(bits); }

TEST(Float16, AgreesWithTheProcessor) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float expected = hardware_widen(static_cast<std::uint16_t>(bits));
    if (!std::isnan(expected)) {
      ASSERT_EQ(Float16::widen(static_cast<std::uint16_t>(bits)), expected);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) {
      ASSERT_EQ(Float16::round(value), hardware_round(value)) << value;
    }
    int exponent = 0;
    const float near = std::ldexp(std::frexp(value, &exponent), static_cast<int>(random() % 48) - 30);
    if (!std::isnan(near)) {
      ASSERT_EQ(Float16::round(near), hardware_round(near)) << near;
    }
  }
}

TEST(DType, NamesAndSizes) {
  EXPECT_EQ(name_of(DType::f32), "fp32");
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(name_of(DType::f16), "fp16");
  EXPECT_EQ(size_of(dtype_of<float>), sizeof(float));
  EXPECT_EQ(size_of(dtype_of<BFloat16>), sizeof(BFloat16));
  EXPECT_EQ(size_of(dtype_of<Float16>), sizeof(Float16));
  EXPECT_EQ(size_of(dtype_of<double>), sizeof(double));
  EXPECT_EQ(size_of(dtype_of<std::int64_t>), sizeof(std::int64_t));
  EXPECT_EQ(size_of(dtype_of<std::int32_t>), sizeof(std::int32_t));
  EXPECT_EQ(size_of(dtype_of<std::uint8_t>), sizeof(std::uint8_t));
}

}  // namespace
}  // namespace hearth
