// What happens to the sums of a matmul before they are stored.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/rows/activation.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/gemm_operands.h"

namespace hearth::kernels {
namespace {

// The epilogue after the sum: bias, activation, the value before it, rounding.
struct End {
  DType c_type;
  Activation activation = Activation::none;
  bool bias = false, before = false, accumulate = false;
};

std::vector<End> ends() {
  std::vector<End> ends;
  for (const DType c_type : kFormats)
    for (const bool bias : {false, true}) {
      ends.push_back({c_type, Activation::none, bias, false, true});
      for (const bool before : {false, true})
        for (const Activation activation :
             {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::tanh})
          ends.push_back({c_type, activation, bias, before, false});
    }
  return ends;
}

// output = f(input), in exactly the bits of activation_forward.
void expect_activated(const Matrix& output, const Matrix& input, const Size& size, Activation activation,
                      const std::string& what) {
  Buffer values(input.type(), size.m * size.n);
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t j = 0; j < size.n; ++j) values.set(i * size.n + j, input.at(i, j));
  activation_forward(activation, input.type(), values.size(), values.data(), values.data());
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t j = 0; j < size.n; ++j)
      ASSERT_EQ(output.at(i, j), values.at(i * size.n + j)) << what << ", row " << i << ", column " << j;
  EXPECT_TRUE(output.surroundings_intact()) << what;
}

void expect_end(const GemmImpl& impl, Operands& operands, const Sums& sums, const End& end) {
  const Size size = operands.size;
  Matrix c(end.c_type, size.m, size.n, 3), before(end.c_type, size.m, size.n, 4);
  if (!end.accumulate) c.fill(kNaN);
  const Matrix old = c;
  Buffer bias(DType::f32, size.n, 5);
  GemmArgs args = operands.args();
  args.c_type = end.c_type;
  args.c = c.data();
  args.ldc = c.ld();
  args.accumulate = end.accumulate;
  args.bias = end.bias ? bias.floats() : nullptr;
  args.activation = end.activation;
  args.before_activation = end.before ? before.data() : nullptr;
  gemm_with(impl, {&args, 1});

  const std::string what =
      fmt::format("{} into {}, activation {}{}{}", operands.describe(impl), name_of(end.c_type),
                  static_cast<int>(end.activation), end.bias ? ", bias" : "", end.accumulate ? ", accumulated" : "");
  const auto sum = [&](std::int64_t i, std::int64_t j) {
    return sums.value[i * size.n + j] + (end.bias ? bias.at(j) : 0.0);
  };
  const double error = term_error(impl, operands.type);
  if (end.activation == Activation::none) {
    expect_result(c, size, sums, error, end.c_type, what,
                  [&](std::int64_t i, std::int64_t j) { return sum(i, j) + (end.accumulate ? old.at(i, j) : 0.0); });
    EXPECT_TRUE(!end.before || before == c) << what;
    return;
  }
  // Where the value before the activation is not asked for, the output has the same bits as where it is.
  Matrix asked_for = old;
  if (!end.before) {
    args.c = asked_for.data();
    args.before_activation = before.data();
    gemm_with(impl, {&args, 1});
    EXPECT_TRUE(c == asked_for) << what;
  }
  expect_result(before, size, sums, error, end.c_type, what + ", before it", sum);
  expect_activated(c, before, size, end.activation, what);
}

TEST(GemmEnds, EveryEndOfAProductIsRight) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const bool b_transposed : {false, true})
      for (const Size size : {Size{1, 1, 1}, Size{19, 258, 24}, Size{70, 40, 64}}) {
        Operands operands(type, size, false, b_transposed);
        const Sums sums = operands.sums();
        for (const GemmImpl& impl : impls_for(type, size))
          for (const End& end : ends()) expect_end(impl, operands, sums, end);
      }
}

// The gradient of an activation's output becomes that of its input. The output itself is not wanted, goes into an array
// of its own or takes the place of the input.
TEST(GemmEnds, MultipliesByTheSlopeOfAnActivation) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const DType c_type : {DType::f32, type})
      for (const Activation activation :
           {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::tanh})
        for (const Size size : {Size{1, 1, 1}, Size{19, 258, 24}, Size{70, 40, 64}}) {
          Operands operands(type, size, false, false);
          const Sums sums = operands.sums();
          for (const GemmImpl& impl : impls_for(type, size)) {
            Matrix c(c_type, size.m, size.n, 3), at(c_type, size.m, size.n, 4);
            c.fill(kNaN);
            GemmArgs args = operands.args();
            args.c_type = c_type;
            args.c = c.data();
            args.ldc = c.ld();
            args.activation = activation;
            Matrix input = at, output(c_type, size.m, size.n, 5), without = c;
            args.slope_at = input.data();
            gemm_with(impl, {&args, 1});
            EXPECT_TRUE(input == at) << operands.describe(impl);
            args.c = without.data();
            args.activated = output.data();
            gemm_with(impl, {&args, 1});
            expect_activated(output, at, size, activation, operands.describe(impl));
            EXPECT_TRUE(input == at && without == c) << operands.describe(impl);
            args.activated = input.data();
            gemm_with(impl, {&args, 1});
            EXPECT_TRUE(input == output && without == c) << operands.describe(impl);
            const auto slope = [&](double x) {
              const float number = static_cast<float>(x), one = 1;
              float result = 0;
              activation_backward(activation, DType::f32, 1, &number, &one, &result);
              return double{result};
            };
            expect_result(
                c, size, sums, 1.2 * term_error(impl, type), c_type, operands.describe(impl),
                [&](std::int64_t i, std::int64_t j) { return sums.value[i * size.n + j] * slope(at.at(i, j)); });
          }
        }
}

TEST(GemmEnds, AnEmptySumStillHasItsEnd) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const GemmImpl& impl : impls_for(type, {260, 3, 0})) {
      Operands operands(type, {260, 3, 0}, true, false);
      const Sums sums = operands.sums();
      for (const End& end : ends()) expect_end(impl, operands, sums, end);
    }
}

}  // namespace
}  // namespace hearth::kernels
