#include <gtest/gtest.h>

#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/linear.h"
#include "hearth/optim/optimizers.h"

namespace hearth {
namespace {

// Steps of two linear layers in a narrow format. `forget`: copies of the weights are dropped before every step, so that
// each is made from the master.
std::vector<float> outputs_after_steps(DType type, const std::string& name, bool forget) {
  ParameterStore store;
  Parameter& first = store.add({{"first.weight", {70, 33}, 0}});
  Parameter& second = store.add({{"second.weight", {5, 70}, 0}});
  store.allocate();
  for (std::int64_t i = 0; i < store.size(); ++i)
    store.master().data<float>()[i] = static_cast<float>((i * 37) % 101 - 50) / 100;
  optim::OptimizerOptions options;
  options.name = name;
  const auto optimizer = optim::make_optimizer(options, store);
  std::vector<float> numbers(12 * 33);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i % 7) / 4 - 1;
  const Tensor x({12, 33}, type);
  kernels::convert(DType::f32, numbers.data(), type, x.raw(), x.size());
  Tensor y;
  for (int step = 0; step < 4; ++step) {
    if (forget)
      for (const auto& parameter : store.parameters()) parameter->copies.clear();
    store.zero_grad();
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    ctx.compute = type;
    const Var output = ops::linear(ctx, ops::linear(ctx, Var(x, true), first, nullptr), second, nullptr);
    y = output.value();
    tape.backward_from(output, y.clone());
    optimizer->step(0.01);
  }
  std::vector<float> values(static_cast<std::size_t>(y.size()));
  kernels::convert(type, y.raw(), DType::f32, values.data(), y.size());
  return values;
}

TEST(WeightCopies, FollowTheMasterToTheBit) {
  for (const DType type : {DType::bf16, DType::f16})
    for (const std::string& optimizer : optim::optimizer_names())
      EXPECT_EQ(outputs_after_steps(type, optimizer, false), outputs_after_steps(type, optimizer, true)) << optimizer;
}

}  // namespace
}  // namespace hearth
