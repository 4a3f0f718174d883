#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hearth/base/api.h"
#include "hearth/base/enum_names.h"

namespace hearth {

// The dtype of an array's elements.
enum class DType : std::uint8_t { f32, bf16, f16, f64, i64, i32, u8 };
constexpr std::array<std::string_view, 7> names_of(DType) {
  return {"fp32", "bf16", "fp16", "fp64", "int64", "int32", "uint8"};
}

HEARTH_API std::size_t size_of(DType);

struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(round(value)) {}
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  // To nearest, ties to even; a NaN stays a NaN.
  static std::uint16_t round(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((word >> 16) | 0x40u);
    return static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

struct HEARTH_API Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(round(value)) {}
  explicit operator float() const { return widen(bits); }

  // To nearest, ties to even; magnitudes of 65,520 and above become infinity; a NaN stays a NaN.
  static std::uint16_t round(float value);
  static float widen(std::uint16_t bits);
};

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace hearth
