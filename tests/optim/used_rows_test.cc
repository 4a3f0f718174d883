#include "hearth/optim/used_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hearth/cpu/parallel.h"
#include "hearth/optim/optimizers.h"

namespace hearth::optim {
namespace {

constexpr std::int64_t kRows = 50, kCols = 24;

// An embedding of which each step uses few rows, between two matrices.
class Model {
 public:
  // `finds_rows`: false hides from the optimizer that the middle one is an embedding, so that it updates all rows.
  explicit Model(bool finds_rows = true) {
    store.add({{"first.weight", {40, 40}, 0}});
    table = &store.add({{"embedding.weight", {kRows, kCols}, 0}});
    table->is_embedding = finds_rows;
    last = &store.add({{"last.weight", {64, 48}, 0}});
    store.allocate();
    for (std::int64_t i = 0; i < store.size(); ++i)
      store.master().data<float>()[i] = static_cast<float>((i * 37) % 101 - 50) / 64;
  }

  // As backward does it: `rows` of the embedding get a gradient, and all of the matrices.
  void set_gradients(std::int64_t step, const std::vector<std::int32_t>& rows) {
    const auto gradient = [&](std::int64_t i) { return static_cast<float>((i * 53 + step * 29) % 41 - 20) / 64; };
    store.zero_grad();
    for (const auto& parameter : store.parameters()) {
      parameter->begin_grad();
      if (parameter.get() == table) continue;
      for (std::int64_t i = 0; i < parameter->grad.size(); ++i) parameter->grad.data<float>()[i] = gradient(i);
    }
    table->grad.fill_zero();
    if (table->is_embedding) table->grad_rows.add(rows);
    for (const std::int32_t row : rows)
      for (std::int64_t i = row * kCols; i < (row + 1) * kCols; ++i) table->grad.data<float>()[i] = gradient(i);
  }

  std::vector<float> weights() const {
    const float* const values = store.master().data<float>();
    return {values, values + store.size()};
  }

  ParameterStore store;
  Parameter *table, *last;
};

std::vector<std::int32_t> rows_of(std::int64_t step) {
  if (step == 1) return {0, 1, 2, 17};
  if (step == 2) return {49, 3, 17};
  return {static_cast<std::int32_t>(5 * step), 18};
}

OptimizerOptions named(const std::string& name, OptimizerArgs args = {}, double weight_decay = 0) {
  OptimizerOptions options;
  options.name = name;
  options.weight_decay = weight_decay;
  options.args = std::move(args);
  return options;
}

const std::vector<OptimizerOptions> kOptions = {
    named("adamw_torch"),
    named("adamw_torch", {}, 0.1),
    named("adamw_hf"),
    named("sgd"),
    named("sgd", {{"momentum", 0.9}}),
    named("adagrad", {{"initial_accumulator_value", 0.5}}),
    named("rmsprop"),
    named("rmsprop", {{"momentum", 0.8}}),
    named("lion"),
    named("adafactor"),
    named("adamw_16bit"),
};

void take_steps(Model& model, Optimizer& optimizer, std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step <= last; ++step) {
    model.set_gradients(step, rows_of(step));
    optimizer.step(0.01);
  }
}

TEST(UnusedRows, LeavingThemOutChangesNoBit) {
  for (const OptimizerOptions& options : kOptions) {
    Model model, whole(false);
    const auto optimizer = make_optimizer(options, model.store), of_whole = make_optimizer(options, whole.store);
    take_steps(model, *optimizer, 1, 6);
    take_steps(whole, *of_whole, 1, 6);
    EXPECT_EQ(model.weights(), whole.weights()) << options.name << " decay " << options.weight_decay;
  }
}

TEST(UnusedRows, AreNotRead) {
  Model model;
  const auto optimizer = make_optimizer(named("adamw_torch"), model.store);
  model.set_gradients(1, {4});
  model.table->grad.data<float>()[7 * kCols] = 1;  // of a row that is not in grad_rows
  const std::vector<float> before = model.weights();
  optimizer->step(0.01);
  const auto changed = [&](std::int64_t row) {
    const std::int64_t at = model.table->offset + row * kCols;
    return model.weights()[static_cast<std::size_t>(at)] != before[static_cast<std::size_t>(at)];
  };
  EXPECT_TRUE(changed(4));
  EXPECT_FALSE(changed(7));
}

// A loop of the user's own may add to the gradient of any row.
TEST(UnusedRows, AreNoneOnceTheGradientIsExposed) {
  Model model;
  const auto optimizer = make_optimizer(named("adamw_torch"), model.store);
  take_steps(model, *optimizer, 1, 2);
  model.table->expose_grad();
  const auto weight = [&] { return model.table->master.data<float>()[7 * kCols]; };
  for (std::int64_t step = 3; step <= 4; ++step) {
    const float before = weight();
    model.set_gradients(step, {4});
    model.table->grad.data<float>()[7 * kCols] = 1;
    optimizer->step(0.01);
    EXPECT_NE(weight(), before) << "step " << step;
  }
}

TEST(UnusedRows, AreUsedOnceTheyHadAGradient) {
  Model model;
  const auto optimizer = make_optimizer(named("adamw_torch"), model.store);
  model.set_gradients(1, {4});
  optimizer->step(0.01);
  const std::vector<float> before = model.weights();
  model.set_gradients(2, {});
  optimizer->step(0.01);
  const auto at = static_cast<std::size_t>(model.table->offset + 4 * kCols);
  EXPECT_NE(model.weights()[at], before[at]);  // the first moment still moves it
}

TEST(UnusedRows, AreFoundAgainInLoadedMoments) {
  for (const char* name : {"adamw_torch", "adamw_16bit"}) {
    Model whole, stopped, resumed;
    const auto at_once = make_optimizer(named(name), whole.store);
    take_steps(whole, *at_once, 1, 6);
    const auto before = make_optimizer(named(name), stopped.store);
    take_steps(stopped, *before, 1, 3);

    const auto after = make_optimizer(named(name), resumed.store);
    take_steps(resumed, *after, 5, 5);  // other rows
    resumed.store.master().copy_from(stopped.store.master());
    after->set_steps(before->steps());
    const Optimizer::State saved = before->state(), loaded = after->state();
    for (std::size_t i = 0; i < saved.size(); ++i) loaded[i].second.copy_from(saved[i].second);
    take_steps(resumed, *after, 4, 6);
    EXPECT_EQ(resumed.weights(), whole.weights()) << name;
  }
}

TEST(UnusedRows, OfAShardThatBeginsInsideARow) {
  for (const char* name : {"adamw_torch", "adamw_16bit"}) {
    Model model, whole(false);
    const std::int64_t cut = model.table->offset + 17 * kCols + 5;
    const Interval parts[] = {{0, cut}, {cut, model.store.size()}};
    const auto first = make_optimizer(named(name), model.store, std::span(parts, 1));
    const auto second = make_optimizer(named(name), model.store, std::span(parts + 1, 1));
    const auto of_whole = make_optimizer(named(name), whole.store);
    for (std::int64_t step = 1; step <= 4; ++step) {
      model.set_gradients(step, rows_of(step));
      first->step(0.01);
      second->step(0.01);
    }
    take_steps(whole, *of_whole, 1, 4);
    EXPECT_EQ(model.weights(), whole.weights()) << name;
  }
}

TEST(UnusedRows, AGradientThatAProgramHoldsCountsAsUsed) {
  Model model;
  model.table->grad_is_exposed = true;
  const auto optimizer = make_optimizer(named("adamw_torch"), model.store);
  model.set_gradients(1, {4});
  model.table->grad.data<float>()[7 * kCols] = 1;
  const auto at = static_cast<std::size_t>(model.table->offset + 7 * kCols);
  const float before = model.weights()[at];
  optimizer->step(0.01);
  EXPECT_NE(model.weights()[at], before);
}

TEST(UnusedRows, AScaleThatIsNotFiniteReachesAllRows) {
  Model model;
  const auto optimizer = make_optimizer(named("adamw_torch"), model.store);
  model.set_gradients(1, {4});
  optimizer->step(0.01, std::numeric_limits<float>::quiet_NaN());
  for (const auto& parameter : model.store.parameters())
    for (std::int64_t i = 0; i < parameter->master.size(); ++i)
      EXPECT_TRUE(std::isnan(parameter->master.data<float>()[i]));
}

TEST(UnusedRows, DoNotDependOnThreads) {
  std::vector<float> expected;
  for (const int threads : {1, 2, 16}) {
    cpu::set_num_threads(threads);
    Model model;
    const auto optimizer = make_optimizer(named("adamw_torch"), model.store);
    take_steps(model, *optimizer, 1, 4);
    if (threads == 1) expected = model.weights();
    EXPECT_EQ(model.weights(), expected) << threads;
  }
  cpu::set_num_threads(0);
}

}  // namespace
}  // namespace hearth::optim
