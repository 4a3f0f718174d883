#include "hearth/kernels/rows/elementwise.h"

#include <gtest/gtest.h>

#include <limits>

#include "hearth/base/error.h"
#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"

namespace hearth::kernels {
namespace {

TEST(Elementwise, ConvertsAllFormats) {
  const OneThread one_thread;
  for (const DType from : kFormats) {
    for (const DType to : kFormats) {
      for (const std::int64_t n : sizes()) {
        Buffer x(from, n, 1), y(to, n), serial(to, n), expected(to, n);
        convert(from, x.data(), to, y.data(), n);
        convert_serial(from, x.data(), to, serial.data(), n);
        reference::convert(from, x.data(), to, expected.data(), n);
        expect_close(y, expected, 0, 0, "convert");
        expect_close(serial, expected, 0, 0, "convert_serial");
      }
    }
  }
}

// Every top half of an f32 with the low halves around the ties of bf16 and of fp16.
TEST(Elementwise, RoundsToNearestEven) {
  std::vector<float> x;
  for (std::uint32_t high = 0; high <= 0xffff; ++high)
    for (const std::uint32_t low :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xf000u, 0xffffu})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<BFloat16> bf16(x.size());
  std::vector<Float16> f16(x.size());
  convert(DType::f32, x.data(), DType::bf16, bf16.data(), n);
  convert(DType::f32, x.data(), DType::f16, f16.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      ASSERT_TRUE(std::isnan(static_cast<float>(bf16[i])) && std::isnan(static_cast<float>(f16[i])));
    } else {
      ASSERT_EQ(bf16[i].bits, BFloat16::round(x[i])) << x[i];
      ASSERT_EQ(f16[i].bits, Float16::round(x[i])) << x[i];
    }
  }
}

TEST(Elementwise, WidensEveryNumber) {
  std::vector<std::uint16_t> bits(0x10000);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> bf16(bits.size()), f16(bits.size());
  convert(DType::bf16, bits.data(), DType::f32, bf16.data(), 0x10000);
  convert(DType::f16, bits.data(), DType::f32, f16.data(), 0x10000);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const float from_bf16 = std::bit_cast<float>(std::uint32_t{bits[i]} << 16), from_f16 = Float16::widen(bits[i]);
    ASSERT_TRUE(bf16[i] == from_bf16 || (std::isnan(bf16[i]) && std::isnan(from_bf16)));
    ASSERT_TRUE(f16[i] == from_f16 || (std::isnan(f16[i]) && std::isnan(from_f16)));
  }
}

TEST(Elementwise, AddInto) {
  for (const DType type : kFormats) {
    for (const std::int64_t n : sizes()) {
      Buffer x(type, n, 1), y(type, n, 2), expected = y;
      add_into(type, n, x.data(), y.data());
      reference::add_into(type, n, x.data(), expected.data());
      expect_close(y, expected, 0, 0, "add_into");
    }
  }
}

TEST(Elementwise, Scale) {
  for (const DType type : kFormats) {
    for (const std::int64_t n : sizes()) {
      Buffer x(type, n, 1), y(type, n), expected = x;
      reference::scale(type, n, 0.3f, x.data(), expected.data());
      scale(type, n, 0.3f, x.data(), y.data());
      expect_close(y, expected, 0, 0, "scale");
      scale(type, n, 0.3f, x.data(), x.data());
      expect_close(x, expected, 0, 0, "scale in place");
    }
  }
}

TEST(Elementwise, Pairwise) {
  for (const DType type : kFormats) {
    for (const std::int64_t n : sizes()) {
      for (const Pairwise kind : {Pairwise::sum, Pairwise::difference, Pairwise::product}) {
        Buffer a(type, n, 1), b(type, n, 2), y(type, n), expected(type, n);
        pairwise(kind, type, n, a.data(), b.data(), y.data());
        reference::pairwise(kind, type, n, a.data(), b.data(), expected.data());
        expect_close(y, expected, 0, 0, "pairwise");
        pairwise(kind, type, n, a.data(), b.data(), b.data());
        expect_close(b, expected, 0, 0, "pairwise in place");
      }
    }
  }
}

TEST(Elementwise, Fill) {
  for (const DType type : kFormats) {
    for (const std::int64_t n : sizes()) {
      Buffer y(type, n, 1), expected = y;
      fill(type, n, 0.3f, y.data());
      reference::fill(type, n, 0.3f, expected.data());
      expect_close(y, expected, 0, 0, "fill");
    }
  }
}

TEST(Elementwise, Total) {
  for (const DType type : kFormats) {
    for (const std::int64_t n : sizes()) {
      Buffer x(type, n, 1);
      EXPECT_NEAR(total(type, n, x.data()), reference::total(type, n, x.data()), 1e-6 * static_cast<double>(n)) << n;
    }
  }
  Buffer many(DType::bf16, 100'000, 1);
  expect_same_for_any_threads([&] { return total(DType::bf16, 100'000, many.data()); });
}

// One number of each kind at every place, and margins that are not looked at.
TEST(Elementwise, AllFinite) {
  const OneThread one_thread;
  using Limits = std::numeric_limits<float>;
  for (const DType type : kFormats) {
    for (const std::int64_t n : sizes()) {
      Buffer x(type, n, 1);
      EXPECT_TRUE(all_finite(type, n, x.data())) << n;
      for (std::int64_t i = 0; i < n; i += std::max<std::int64_t>(1, n / 40)) {
        const float before = x.at(i);
        for (const float value : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), 0.0f, 65504.0f}) {
          x.set(i, value);
          EXPECT_EQ(all_finite(type, n, x.data()), reference::all_finite(type, n, x.data())) << n << " " << value;
        }
        x.set(i, before);
      }
    }
  }
  Buffer largest(DType::f32, 40);
  for (std::int64_t i = 0; i < 40; ++i) largest.set(i, i % 2 == 0 ? Limits::max() : -Limits::max());
  EXPECT_TRUE(all_finite(DType::f32, 40, largest.data()));
}

TEST(Elementwise, ColumnSums) {
  const OneThread one_thread;
  for (const DType type : kFormats) {
    for (const std::int64_t rows : {0, 1, 3, 64, 65, 200}) {
      for (const std::int64_t cols : {0, 1, 7, 16, 17, 33, 600}) {
        for (const bool accumulate : {false, true}) {
          const std::int64_t ldx = cols + 3;
          Buffer x(type, rows * ldx, 1), sums(DType::f32, cols, 2), expected = sums;
          column_sums(type, rows, cols, x.data(), ldx, sums.floats(), accumulate);
          reference::column_sums(type, rows, cols, x.data(), ldx, expected.floats(), accumulate);
          expect_close(sums, expected, 1e-6, 1e-5, "column_sums");
        }
      }
    }
  }
}

TEST(Elementwise, ColumnSumsDoNotDependOnThreads) {
  Buffer x(DType::bf16, 1000 * 700, 1);
  expect_same_for_any_threads([&] {
    Buffer sums(DType::f32, 700, 2);
    column_sums(DType::bf16, 1000, 700, x.data(), 700, sums.floats(), true);
    return sums;
  });
}

TEST(Elementwise, RefusesFormatsItCannotComputeWith) {
  std::int64_t number = 0;
  EXPECT_THROW(scale(DType::i64, 1, 2.0f, &number, &number), Error);
}

}  // namespace
}  // namespace hearth::kernels
