#include "hearth/kernels/rows/softmax.h"

#include <gtest/gtest.h>

#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"

namespace hearth::kernels {
namespace {

TEST(Softmax, IsTheReferences) {
  const OneThread one_thread;
  for (const SoftmaxKind kind : {SoftmaxKind::plain, SoftmaxKind::log}) {
    for (const DType type : kFormats) {
      for (const std::int64_t cols : sizes()) {
        constexpr std::int64_t kRows = 3;
        Buffer x(type, kRows * cols, 1), dy(type, kRows * cols, 2), y(type, kRows * cols), expected(type, kRows * cols);
        reference::softmax_forward(kind, type, kRows, cols, x.data(), expected.data());
        softmax_forward(kind, type, kRows, cols, x.data(), y.data());
        expect_close(y, expected, unit_of(type) + 2e-6, 1e-6, "softmax_forward");
        softmax_forward(kind, type, kRows, cols, x.data(), x.data());
        expect_close(x, y, 0, 0, "softmax_forward in place");
        reference::softmax_backward(kind, type, kRows, cols, y.data(), dy.data(), expected.data());
        softmax_backward(kind, type, kRows, cols, y.data(), dy.data(), dy.data());
        expect_close(dy, expected, unit_of(type) + 2e-6, 1e-5, "softmax_backward");
      }
    }
  }
}

TEST(Softmax, ShiftsLargeNumbers) {
  Buffer x(DType::f32, 3), y(DType::f32, 3);
  for (const float shift : {-1e4f, 1e4f}) {
    for (std::int64_t i = 0; i < 3; ++i) x.set(i, shift + static_cast<float>(i));
    softmax_forward(SoftmaxKind::plain, DType::f32, 1, 3, x.data(), y.data());
    EXPECT_NEAR(y.at(0) + y.at(1) + y.at(2), 1, 1e-6);
    EXPECT_NEAR(y.at(2) / y.at(1), std::exp(1.0), 1e-5);
  }
}

TEST(Softmax, DoesNotDependOnThreads) {
  Buffer x(DType::bf16, 300 * 170, 1);
  expect_same_for_any_threads([&] {
    Buffer y(DType::bf16, 300 * 170);
    softmax_forward(SoftmaxKind::plain, DType::bf16, 300, 170, x.data(), y.data());
    return y;
  });
}

}  // namespace
}  // namespace hearth::kernels
