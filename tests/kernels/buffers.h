#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/cpu/parallel.h"
#include "tests/support.h"

namespace hearth::kernels {

inline const std::vector<DType> kFormats = {DType::f32, DType::bf16, DType::f16};

// 0 to twice the widest vector and one more, then some that take several chunks.
inline std::vector<std::int64_t> sizes() {
  std::vector<std::int64_t> sizes = {100, 1000, 16384 + 5, 50001};
  for (std::int64_t n = 0; n <= 33; ++n) sizes.push_back(n);
  return sizes;
}

// How far a result may be off for having been rounded to a format, one unit in the last place.
inline double unit_of(DType type) { return type == DType::f32 ? 0x1p-23 : type == DType::bf16 ? 0x1p-7 : 0x1p-10; }

// An array of any format one element off alignment, between bytes that nobody may touch.
class Buffer {
 public:
  Buffer(DType type, std::int64_t n) : type_(type), n_(n), lines_((first() + bytes() + kMargin + 63) / 64) {
    std::memset(raw(), kCanary, 64 * lines_.size());
    for (std::int64_t i = 0; i < n; ++i) set(i, 0);
  }
  // Normal random numbers.
  Buffer(DType type, std::int64_t n, std::uint32_t seed, float scale = 1, float shift = 0) : Buffer(type, n) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(shift, scale);
    for (std::int64_t i = 0; i < n; ++i) set(i, normal(generator));
  }

  DType type() const { return type_; }
  std::int64_t size() const { return n_; }
  void* data() { return raw() + first(); }
  float* floats() { return static_cast<float*>(data()); }
  float at(std::int64_t i) const {
    if (type_ == DType::f32) return element<float>(i);
    return type_ == DType::bf16 ? static_cast<float>(element<BFloat16>(i)) : static_cast<float>(element<Float16>(i));
  }
  void set(std::int64_t i, float value) {
    if (type_ == DType::f32) return put(i, value);
    if (type_ == DType::bf16) return put(i, BFloat16(value));
    put(i, Float16(value));
  }
  bool margins_intact() const {
    for (std::size_t i = 0; i < 64 * lines_.size(); ++i)
      if ((i < first() || i >= first() + bytes()) && raw()[i] != std::byte{kCanary}) return false;
    return true;
  }
  bool operator==(const Buffer& other) const {
    return lines_.size() == other.lines_.size() && std::memcmp(raw(), other.raw(), 64 * lines_.size()) == 0;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static constexpr std::size_t kMargin = 256;
  static constexpr unsigned char kCanary = 0xA5;

  std::size_t bytes() const { return static_cast<std::size_t>(n_) * size_of(type_); }
  std::size_t first() const { return kMargin + size_of(type_); }
  std::byte* raw() { return lines_.data()->bytes; }
  const std::byte* raw() const { return lines_.data()->bytes; }
  template <class T>
  T element(std::int64_t i) const {
    T value;
    std::memcpy(&value, raw() + first() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void put(std::int64_t i, T value) {
    std::memcpy(raw() + first() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }

  DType type_;
  std::int64_t n_;
  std::vector<Line> lines_;
};

// |actual - expected| <= absolute + relative * |expected|, and the margins as they were.
inline void expect_close(const Buffer& actual, const Buffer& expected, double relative, double absolute,
                         std::string_view what) {
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_TRUE(actual.margins_intact()) << what << ": wrote outside its " << actual.size() << " elements";
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    const double a = actual.at(i), e = expected.at(i);
    if (std::isnan(a) && std::isnan(e)) continue;
    if (a == e) continue;
    ASSERT_LE(std::abs(a - e), absolute + relative * std::abs(e))
        << what << ", element " << i << " of " << actual.size() << ", " << name_of(actual.type()) << ": " << a
        << " instead of " << e;
  }
}

// Runs `compute` with 1, 2, 8 and 16 threads; what it returns must be the same to the bit.
template <class Compute>
void expect_same_for_any_threads(const Compute& compute) {
  cpu::set_num_threads(1);
  const auto expected = compute();
  for (const int threads : {2, 8, 16}) {
    cpu::set_num_threads(threads);
    EXPECT_TRUE(compute() == expected) << threads << " threads give other bits than one";
  }
  cpu::set_num_threads(0);
}

}  // namespace hearth::kernels
