#include "hearth/optim/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "hearth/base/error.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/optim/optimizers.h"
#include "tests/optim/expected_values.h"

namespace hearth::optim {
namespace {

// The arrays of make_expected_values.py: two of them, query and key, are parts of one parameter.
class Arrays {
 public:
  Arrays() {
    store_.add({{"encoder.dense.weight", {4, 6}, 0}});
    store_.add({{"encoder.dense.bias", {4}, 0}});
    store_.add({{"encoder.LayerNorm.weight", {6}, 0}}, true);
    store_.add({{"query.weight", {3, 4}, 0}, {"key.weight", {3, 4}, 0}});
    store_.allocate();
    for_each_part([](const Parameter& parameter, const Parameter::Part& part, std::int64_t a) {
      fill(parameter.master_part(part), 37, 101 * a, 61, 32);
    });
  }

  ParameterStore& store() { return store_; }

  void set_gradients(std::int64_t step) {
    store_.complete_grads();
    for_each_part([&](const Parameter& parameter, const Parameter::Part& part, std::int64_t a) {
      fill(parameter.grad_part(part), 53, 17 * a + 29 * step, 41, 64);
    });
  }

  void take_steps(Optimizer& optimizer, std::int64_t first, std::int64_t last) {
    for (std::int64_t step = first; step <= last; ++step) {
      set_gradients(step);
      optimizer.step(0.01 / static_cast<double>(step), step == 2 ? 0.5f : 1.0f);
    }
  }

  std::vector<float> values() const {
    std::vector<float> values;
    for_each_part([&](const Parameter& parameter, const Parameter::Part& part, std::int64_t) {
      const Tensor master = parameter.master_part(part);
      values.insert(values.end(), master.data<float>(), master.data<float>() + master.size());
    });
    return values;
  }

 private:
  static void fill(const Tensor& tensor, std::int64_t factor, std::int64_t shift, std::int64_t modulus, float divisor) {
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.data<float>()[i] = static_cast<float>((i * factor + shift) % modulus - modulus / 2) / divisor;
  }
  template <class Visit>
  void for_each_part(const Visit& visit) const {
    std::int64_t a = 0;
    for (const auto& parameter : store_.parameters())
      for (const Parameter::Part& part : parameter->parts) visit(*parameter, part, a++);
  }

  ParameterStore store_;
};

OptimizerOptions options(std::string name, OptimizerArgs args = {}) {
  OptimizerOptions options;
  options.name = std::move(name);
  options.weight_decay = 0.1;
  options.args = std::move(args);
  return options;
}

OptimizerOptions with_betas(OptimizerOptions options, double beta1, double beta2, double eps = 1e-8) {
  options.beta1 = beta1;
  options.beta2 = beta2;
  options.eps = eps;
  return options;
}

struct Named {
  OptimizerOptions options;
  const std::vector<float>& expected;
  double tolerance = 3e-7;
};

const std::vector<Named> kOptimizers = {
    {options("adamw_torch"), expected::kAdamW},
    {options("adamw_torch_fused"), expected::kAdamW},
    {options("adamw_16bit"), expected::kAdamW, 1e-4},
    {options("adamw_hf"), expected::kAdamWHf},
    {with_betas(options("adamw_hf"), 0.8, 0.9, 0.1), expected::kAdamWHfLargeEps},
    {options("sgd"), expected::kSgd},
    {options("sgd", {{"momentum", 0.9}}), expected::kSgdMomentum},
    {options("adafactor"), expected::kAdafactor},
    {options("adagrad"), expected::kAdagrad},
    {options("adagrad", {{"lr_decay", 0.25}, {"initial_accumulator_value", 0.5}, {"eps", 1e-3}}),
     expected::kAdagradArgs},
    {options("rmsprop"), expected::kRmsProp},
    {options("rmsprop", {{"alpha", 0.9}, {"eps", 1e-3}, {"momentum", 0.8}}), expected::kRmsPropArgs},
    {options("lion_32bit"), expected::kLion},
    {options("lion"), expected::kLion},
    {with_betas(options("lion"), 0.8, 0.9), expected::kLionBetas},
};
constexpr std::int64_t kSteps = 6;

TEST(Optimizer, GoesWhereTorchAndTransformersGo) {
  for (const Named& named : kOptimizers) {
    Arrays arrays;
    const auto optimizer = make_optimizer(named.options, arrays.store());
    arrays.take_steps(*optimizer, 1, kSteps);
    EXPECT_EQ(optimizer->steps(), kSteps);
    const std::vector<float> values = arrays.values();
    ASSERT_EQ(values.size(), named.expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], named.expected[i], named.tolerance) << named.options.name << " " << i;
  }
}

TEST(Optimizer, MarksTheWeightsChanged) {
  for (const Named& named : kOptimizers) {
    Arrays arrays;
    const auto optimizer = make_optimizer(named.options, arrays.store());
    const std::uint64_t before = arrays.store().parameters().front()->version;
    arrays.take_steps(*optimizer, 1, 1);
    EXPECT_GT(arrays.store().parameters().front()->version, before);
  }
}

TEST(Optimizer, ContinuesToTheBitFromItsState) {
  for (const Named& named : kOptimizers) {
    Arrays whole, first, second;
    const auto at_once = make_optimizer(named.options, whole.store());
    whole.take_steps(*at_once, 1, kSteps);

    const auto before = make_optimizer(named.options, first.store());
    first.take_steps(*before, 1, 3);
    const auto after = make_optimizer(named.options, second.store());
    second.store().master().copy_from(first.store().master());
    after->set_steps(before->steps());
    const Optimizer::State saved = before->state(), restored = after->state();
    ASSERT_EQ(saved.size(), restored.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      EXPECT_EQ(saved[i].first, restored[i].first);
      restored[i].second.copy_from(saved[i].second);
    }
    second.take_steps(*after, 4, kSteps);
    EXPECT_EQ(second.values(), whole.values()) << named.options.name;
  }
}

// One step of Adafactor on a matrix, in double and as the paper writes it.
void step_plainly(std::vector<double>& weights, std::vector<double>& rows, std::vector<double>& cols,
                  const float* gradients, double step, double lr) {
  const double beta2 = 1 - std::pow(step, -0.8), count = static_cast<double>(weights.size());
  std::vector<double> row_sums(rows.size()), col_sums(cols.size()), update(weights.size());
  const auto place = [&](std::size_t r, std::size_t c) { return r * cols.size() + c; };
  const auto for_all = [&](const auto& action) {
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; c < cols.size(); ++c) action(r, c);
  };
  for_all([&](std::size_t r, std::size_t c) {
    const double square = std::pow(double{gradients[place(r, c)]}, 2) + 1e-30;
    row_sums[r] += square / static_cast<double>(cols.size());
    col_sums[c] += square / static_cast<double>(rows.size());
  });
  double mean = 0, squares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = beta2 * rows[r] + (1 - beta2) * row_sums[r];
  for (std::size_t c = 0; c < cols.size(); ++c) cols[c] = beta2 * cols[c] + (1 - beta2) * col_sums[c];
  for (const double row : rows) mean += row / static_cast<double>(rows.size());
  for_all([&](std::size_t r, std::size_t c) {
    update[place(r, c)] = gradients[place(r, c)] / std::sqrt(rows[r] / mean * cols[c]);
    squares += std::pow(update[place(r, c)], 2);
  });
  const double clip = std::max(1.0, std::sqrt(squares / count));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= lr * update[i] / clip;
}

TEST(Optimizer, AdafactorOfALargeMatrixIsThePapers) {
  constexpr std::int64_t kRows = 1100, kCols = 331;  // some three chunks
  std::vector<float> of_one_thread;
  for (const int threads : {1, 3}) {
    cpu::set_num_threads(threads);
    ParameterStore store;
    store.add({{"dense.weight", {kRows, kCols}, 0}});
    store.allocate();
    OptimizerOptions named;
    named.name = "adafactor";
    const auto optimizer = make_optimizer(named, store);
    const Parameter& matrix = *store.parameters().front();
    std::vector<double> weights(kRows * kCols), rows(kRows), cols(kCols);
    matrix.master.fill_zero();
    for (std::int64_t step = 1; step <= 3; ++step) {
      for (std::int64_t i = 0; i < kRows * kCols; ++i)
        matrix.grad.data<float>()[i] = static_cast<float>((i * 7919 + step * 31) % 1009 - 504) / (1 + i / 5000);
      optimizer->step(0.01);
      step_plainly(weights, rows, cols, matrix.grad.data<float>(), static_cast<double>(step), 0.01);
    }
    double largest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      largest = std::max(largest, std::abs(weights[i] - matrix.master.data<float>()[i]));
    EXPECT_LT(largest, 1e-6) << threads;
    const std::vector<float> bits(matrix.master.data<float>(), matrix.master.data<float>() + kRows * kCols);
    if (threads == 1) of_one_thread = bits;
    EXPECT_EQ(bits, of_one_thread);
  }
  cpu::set_num_threads(0);
}

TEST(Optimizer, NamesItsState) {
  const auto names = [](const OptimizerOptions& named) {
    Arrays arrays;
    std::vector<std::string> result;
    for (const auto& [name, tensor] : make_optimizer(named, arrays.store())->state())
      result.push_back(name + " " + tensor.shape().to_string());
    return result;
  };
  EXPECT_EQ(names(options("sgd")).size(), 0u);
  EXPECT_EQ(
      names(options("sgd", {{"momentum", 0.9}})),
      (std::vector<std::string>{"momentum_buffer.encoder.dense.weight (4, 6)", "momentum_buffer.encoder.dense.bias (4)",
                                "momentum_buffer.encoder.LayerNorm.weight (6)", "momentum_buffer.query.weight (3, 4)",
                                "momentum_buffer.key.weight (3, 4)"}));
  const std::vector<std::string> adam = names(options("adamw_torch"));
  EXPECT_EQ(adam.size(), 10u);
  EXPECT_EQ(adam.front(), "exp_avg.encoder.dense.weight (4, 6)");
  EXPECT_EQ(adam.back(), "exp_avg_sq.key.weight (3, 4)");
  EXPECT_EQ(names(options("adamw_hf")), adam);
  EXPECT_EQ(names(options("adamw_16bit")), adam);
  EXPECT_EQ(names(options("adagrad")).front(), "sum.encoder.dense.weight (4, 6)");
  EXPECT_EQ(names(options("rmsprop")).back(), "square_avg.key.weight (3, 4)");
  EXPECT_EQ(names(options("rmsprop", {{"momentum", 0.9}})).back(), "momentum_buffer.key.weight (3, 4)");
  EXPECT_EQ(names(options("lion")).size(), 5u);
  EXPECT_EQ(names(options("lion")).back(), "exp_avg.key.weight (3, 4)");
  EXPECT_EQ(
      names(options("adafactor")),
      (std::vector<std::string>{"exp_avg_sq_row.encoder.dense.weight (4)", "exp_avg_sq_col.encoder.dense.weight (6)",
                                "exp_avg_sq.encoder.dense.bias (4)", "exp_avg_sq.encoder.LayerNorm.weight (6)",
                                "exp_avg_sq_row.query.weight (3)", "exp_avg_sq_col.query.weight (4)",
                                "exp_avg_sq_row.key.weight (3)", "exp_avg_sq_col.key.weight (4)"}));
}

TEST(Optimizer, DoesNotDependOnThreads) {
  for (const Named& named : kOptimizers) {
    std::vector<float> expected;
    for (const int threads : {1, 2, 8, 16}) {
      cpu::set_num_threads(threads);
      ParameterStore store;
      Parameter& weight = store.add({{"weight", {300, 200}, 0}});
      store.add({{"bias", {200}, 0}});
      store.allocate();
      store.master().fill_zero();
      const auto optimizer = make_optimizer(named.options, store);
      for (int step = 0; step < 2; ++step) {
        for (std::int64_t i = 0; i < store.size(); ++i)
          store.grad().data<float>()[i] = static_cast<float>(std::sin(0.1 * static_cast<double>(i + step)));
        optimizer->step(0.01, clip_scale(grad_norm(store), 1.0));
      }
      const std::vector<float> values(weight.master.data<float>(), weight.master.data<float>() + weight.master.size());
      if (threads == 1) expected = values;
      EXPECT_EQ(values, expected) << named.options.name << " with " << threads << " threads";
    }
  }
  cpu::set_num_threads(0);
}

TEST(Decay, IsForWeightsAndEmbeddingsAlone) {
  ParameterStore store;
  const auto decays_as = [&](std::string name, bool is_norm) { return decays(store.add({{name, {2}, 0}}, is_norm)); };
  EXPECT_TRUE(decays_as("bert.encoder.layer.0.output.dense.weight", false));
  EXPECT_TRUE(decays_as("bert.embeddings.word_embeddings.weight", false));
  EXPECT_FALSE(decays_as("bert.encoder.layer.0.output.dense.bias", false));
  EXPECT_FALSE(decays_as("cls.predictions.bias", false));
  EXPECT_FALSE(decays_as("Some.Bias_Layer.weight", false));
  EXPECT_FALSE(decays_as("bert.embeddings.LayerNorm.weight", true));
  EXPECT_FALSE(decays_as("distilbert.transformer.layer.0.sa_layer_norm.weight", true));
}

TEST(Clipping, TakesTheNormOverAllGradients) {
  Arrays arrays;
  arrays.set_gradients(1);
  double squares = 0;
  for (const auto& parameter : arrays.store().parameters())
    for (std::int64_t i = 0; i < parameter->grad.size(); ++i)
      squares += std::pow(double{parameter->grad.data<float>()[i]}, 2);
  EXPECT_NEAR(grad_norm(arrays.store()), std::sqrt(squares), 1e-12);
  arrays.store().parameters().back()->grad.data<float>()[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(grad_norm(arrays.store())));
}

TEST(Clipping, NormBeforeBackwardIsZero) {
  Arrays arrays;
  arrays.set_gradients(1);
  arrays.store().zero_grad();
  EXPECT_EQ(grad_norm(arrays.store()), 0);
}

TEST(Clipping, ScalesAsClipGradNormDoes) {
  EXPECT_EQ(clip_scale(0.5, 1), 1);
  EXPECT_FLOAT_EQ(clip_scale(4, 1), 1 / (4 + 1e-6f));
  EXPECT_FLOAT_EQ(clip_scale(1, 1), static_cast<float>(1 / (1 + 1e-6)));
  EXPECT_EQ(clip_scale(100, 0), 1);  // no clipping
  EXPECT_EQ(clip_scale(std::numeric_limits<double>::infinity(), 1), 0);
  EXPECT_TRUE(std::isnan(clip_scale(std::numeric_limits<double>::quiet_NaN(), 1)));
}

// Bytes that no copy holds.
void spoil(const Tensor& values) { std::memset(values.raw(), 0x5a, values.bytes()); }

Tensor rebuilt(const Parameter& parameter, const WeightCopy& copy) {
  WeightCopy fresh = copy;
  fresh.value = Tensor(copy.value.shape(), copy.value.type());
  spoil(fresh.value);
  rebuild(parameter, fresh, 0, parameter.shape[0], true);
  return fresh.value;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// Weights with copies in bf16: plain ones, and packed ones where this machine has them.
struct WithCopies {
  WithCopies() {
    store.allocate();
    std::fill_n(store.master().data<float>(), store.size(), 1.0f);
    std::fill_n(store.grad().data<float>(), store.size(), 2.0f);
    read_copies();
  }
  void read_copies() {
    using Layout = WeightForm::Layout;
    for (Parameter* parameter : {&large, &small}) {
      acquire(*parameter, {DType::bf16, Layout::plain});
      if (kernels::choose_gemm(DType::bf16).pack == nullptr) continue;
      for (const Layout layout : {Layout::packed, Layout::packed_transposed})
        acquire(*parameter, {DType::bf16, layout});
    }
  }
  void spoil_copies() const {
    for (const Parameter* parameter : {&large, &small})
      for (const WeightCopy& copy : parameter->copies) spoil(copy.value);
  }
  static bool are_up_to_date(const Parameter& parameter) {
    EXPECT_FALSE(parameter.copies.empty());
    return std::ranges::all_of(parameter.copies, [&](const WeightCopy& copy) {
      return copy.version == parameter.version && same_bytes(copy.value, rebuilt(parameter, copy));
    });
  }
  static bool are_out_of_date(const Parameter& parameter) {
    EXPECT_FALSE(parameter.copies.empty());
    return std::ranges::all_of(parameter.copies,
                               [&](const WeightCopy& copy) { return copy.version != parameter.version; });
  }

  ParameterStore store;
  Parameter& large = store.add({{"large.weight", {333, 257}, 0}});
  Parameter& bias = store.add({{"large.bias", {333}, 0}});
  Parameter& small = store.add({{"small.weight", {3, 5}, 0}});
};

TEST(Optimizer, BringsCopiesUpToDate) {
  for (const OptimizerKind& kind : optimizer_kinds()) {
    if (!kind.can_shard) continue;
    WithCopies with;
    OptimizerOptions options;
    options.name = kind.names.front();
    options.weight_decay = 0.1;
    const auto optimizer = make_optimizer(options, with.store);
    for (int step = 1; step <= 2; ++step) {
      with.read_copies();
      with.spoil_copies();  // so that a row that is not made again shows
      optimizer->step(0.1);
      EXPECT_TRUE(with.are_up_to_date(with.large)) << options.name;
      EXPECT_TRUE(with.are_up_to_date(with.small)) << options.name;
    }
    EXPECT_LT(with.bias.master.data<float>()[332], 1);
    for (std::int64_t i = 0; i < with.large.master.size(); ++i) ASSERT_LT(with.large.master.data<float>()[i], 1) << i;
  }
}

// Two owners of half the weights each go where one owner of all goes, with the moments of their halves.
TEST(Optimizer, UpdatesAShardAsItUpdatesTheWhole) {
  for (const Named& named : kOptimizers) {
    if (!can_shard(named.options.name)) continue;
    Arrays whole, shards;
    const auto at_once = make_optimizer(named.options, whole.store());
    const Interval halves[] = {{0, 23}, {23, shards.store().size()}};
    const auto low = make_optimizer(named.options, shards.store(), std::span(&halves[0], 1));
    const auto high = make_optimizer(named.options, shards.store(), std::span(&halves[1], 1));
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      whole.take_steps(*at_once, step, step);
      shards.take_steps(*low, step, step);
      shards.take_steps(*high, step, step);
    }
    EXPECT_EQ(shards.values(), whole.values()) << named.options.name;
    for (const auto& [name, moments] : low->moments()) EXPECT_EQ(moments.size(), 23) << name;
  }
}

TEST(Optimizer, LeavesCopiesOfPartlyUpdatedParametersForLater) {
  WithCopies with;
  const Interval own{0, with.large.offset + 1000};
  const auto optimizer = make_optimizer({}, with.store, std::span(&own, 1));
  with.spoil_copies();
  optimizer->step(0.1);
  EXPECT_TRUE(with.are_up_to_date(with.small));
  EXPECT_TRUE(with.are_out_of_date(with.large));
  for (const WeightCopy& copy : with.large.copies) {
    const Tensor untouched(copy.value.shape(), copy.value.type());
    spoil(untouched);
    EXPECT_TRUE(same_bytes(copy.value, untouched));
  }
  EXPECT_LT(with.large.master.data<float>()[999], 1);
  EXPECT_EQ(with.large.master.data<float>()[1000], 1);
}

TEST(Optimizer, DropsCopiesThatNobodyReads) {
  WithCopies with;
  const auto optimizer = make_optimizer({}, with.store);
  optimizer->step(0.1);
  EXPECT_TRUE(with.are_up_to_date(with.large));
  acquire(with.small, {DType::bf16});
  optimizer->step(0.1);
  EXPECT_TRUE(with.large.copies.empty());
  ASSERT_EQ(with.small.copies.size(), 1u);
  EXPECT_EQ(with.small.copies[0].form, WeightForm{DType::bf16});
  EXPECT_TRUE(with.are_up_to_date(with.small));
}

TEST(Optimizer, AdafactorLeavesCopiesForLater) {
  WithCopies with;
  OptimizerOptions options;
  options.name = "adafactor";
  make_optimizer(options, with.store)->step(0.1);
  EXPECT_TRUE(with.are_out_of_date(with.large));
}

TEST(Optimizer, NeedsParametersWithMemory) {
  ParameterStore store;
  store.add({{"weight", {2, 2}, 0}});
  EXPECT_THROW(make_optimizer({}, store), Error);
  EXPECT_THROW(grad_norm(store), Error);
}

}  // namespace
}  // namespace hearth::optim
