#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/context.h"
#include "tests/ops/formulas.h"

namespace hearth::ops {

// Sequences of the given lengths and numbers of keys; the samples are numbered in some order of their own.
class Packed {
 public:
  Packed(const std::vector<std::int64_t>& lengths, std::vector<std::int64_t> keys) : keys_(std::move(keys)) {
    for (const std::int64_t length : lengths) {
      starts_.push_back(starts_.back() + length);
      samples_.push_back(static_cast<std::uint32_t>(7 * samples_.size() % 5));
    }
  }
  explicit Packed(const std::vector<std::int64_t>& lengths) : Packed(lengths, lengths) {}

  kernels::Sequences view() const { return {starts_, keys_, samples_}; }
  std::int64_t tokens() const { return starts_.back(); }

 private:
  std::vector<std::int64_t> starts_{0}, keys_;
  std::vector<std::uint32_t> samples_;
};

// Normal random numbers that every format holds without rounding.
inline std::vector<float> random_numbers(std::int64_t count, std::uint32_t seed, float deviation = 1, float shift = 0) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(shift, deviation);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(BFloat16(normal(generator)));
  return numbers;
}

inline Tensor tensor_of(const std::vector<float>& numbers, Shape shape, DType type = DType::f32) {
  Tensor tensor(shape, type);
  kernels::convert(DType::f32, numbers.data(), type, tensor.raw(), tensor.size());
  return tensor;
}

inline std::vector<float> numbers_of(const Tensor& tensor) {
  std::vector<float> numbers(static_cast<std::size_t>(tensor.size()));
  kernels::convert(tensor.type(), tensor.raw(), DType::f32, numbers.data(), tensor.size());
  return numbers;
}

struct Array {
  std::string name;
  Shape shape;
  float deviation = 1, shift = 0;
};

// An operation, or several, on a few small arrays: what the library runs, and the same as a formula.
struct OpCase {
  Packed packed{{5, 3, 4}, {5, 2, 4}};
  std::vector<Array> inputs, parameters;
  std::function<Var(Context&, std::span<const Var>, std::span<Parameter* const>)> op;
  // Takes the inputs and then the parameters.
  std::function<formula::Numbers(const Context&, std::span<const formula::Numbers>)> formula;
  DType input_type = DType::f32;         // of the inputs; the context computes in it, too
  int passes = 1;                        // forward and backward, gradients of parameters adding up
  std::vector<std::size_t> frozen = {};  // indices of parameters, which have no gradient
  std::optional<std::size_t> constant;   // an input that needs no gradient

  std::vector<Array> arrays() const {
    std::vector<Array> all = inputs;
    all.insert(all.end(), parameters.begin(), parameters.end());
    return all;
  }
  std::vector<float> numbers(std::size_t array) const {
    const Array a = arrays()[array];
    return random_numbers(a.shape.size(), static_cast<std::uint32_t>(array) + 1, a.deviation, a.shift);
  }
  Context context() const {
    Context ctx;
    ctx.compute = input_type;
    ctx.training = true;
    ctx.seed = 42;
    ctx.step = 3;
    ctx.sequences = packed.view();
    return ctx;
  }
};

// The weights of the sum of outputs whose gradient is taken.
inline std::vector<float> output_weights(std::int64_t count) {
  return count == 1 ? std::vector<float>{2} : random_numbers(count, 100);
}

// Ends the life of a value between forward and backward. Where no backward captured it, its memory is overwritten, so
// that a backward which reads it nevertheless is found.
inline GradientEdge edge_without_value(Var value) {
  const Tensor& numbers = value.value();
  if (value.is_last_holder())
    kernels::fill(numbers.type(), numbers.size(), std::numeric_limits<float>::quiet_NaN(), numbers.raw());
  return value.edge();
}

struct Outcome {
  std::vector<float> y;
  std::vector<std::vector<float>> grads;  // of the inputs, then of the parameters
  bool operator==(const Outcome&) const = default;
};

inline Outcome run(const OpCase& test) {
  ParameterStore store;
  std::vector<Parameter*> parameters;
  for (const Array& array : test.parameters) parameters.push_back(&store.add({{array.name, array.shape, 0}}));
  for (const std::size_t i : test.frozen)
    store.freeze([&](std::string_view name) { return name == test.parameters[i].name; });
  store.allocate();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i]->master.copy_from(tensor_of(test.numbers(test.inputs.size() + i), test.parameters[i].shape));
  // Gradients that an earlier step left behind must not count.
  for (Parameter* parameter : parameters)
    if (parameter->trainable) parameter->grad.copy_from(parameter->master);
  store.zero_grad();

  Outcome outcome;
  for (int pass = 0; pass < test.passes; ++pass) {
    std::vector<Var> inputs;
    for (std::size_t i = 0; i < test.inputs.size(); ++i)
      inputs.emplace_back(tensor_of(test.numbers(i), test.inputs[i].shape, test.input_type), i != test.constant);
    Tape tape;
    Context ctx = test.context();
    ctx.tape = &tape;
    Var y = test.op(ctx, inputs, parameters);
    outcome = {numbers_of(y.value()), {}};
    const GradientEdge output = edge_without_value(std::move(y));
    std::vector<GradientEdge> input_edges;
    for (Var& input : inputs) input_edges.push_back(edge_without_value(std::exchange(input, {})));
    tape.backward_from(output, tensor_of(output_weights(output.shape().size()), output.shape(), output.type()));
    for (std::size_t i = 0; i < input_edges.size(); ++i) {
      EXPECT_EQ(input_edges[i].grad().defined(), i != test.constant) << test.inputs[i].name;
      outcome.grads.push_back(i == test.constant ? std::vector<float>() : numbers_of(input_edges[i].grad()));
    }
  }
  store.complete_grads();
  for (const Parameter* parameter : parameters)
    outcome.grads.push_back(parameter->trainable ? numbers_of(parameter->grad) : std::vector<float>());
  return outcome;
}

struct Expected {
  std::vector<double> y;
  std::vector<std::vector<double>> grads;
};

inline Expected differentiate(const OpCase& test) {
  std::vector<formula::Numbers> arrays;
  for (std::size_t i = 0; i < test.arrays().size(); ++i) {
    const std::vector<float> numbers = test.numbers(i);
    arrays.emplace_back(numbers.begin(), numbers.end());
  }
  const Context ctx = test.context();
  Expected expected;
  for (const Dual& y : test.formula(ctx, arrays)) expected.y.push_back(y.value);
  const std::vector<float> weights = output_weights(static_cast<std::int64_t>(expected.y.size()));
  for (formula::Numbers& array : arrays) {
    std::vector<double>& grad = expected.grads.emplace_back();
    for (Dual& element : array) {
      element.slope = 1;
      const formula::Numbers y = test.formula(ctx, arrays);
      element.slope = 0;
      double slope = 0;
      for (std::size_t i = 0; i < y.size(); ++i) slope += weights[i] * y[i].slope;
      grad.push_back(slope);
    }
  }
  return expected;
}

// The largest difference over the largest expected value.
template <class Number>
void expect_near(const std::vector<float>& actual, const std::vector<Number>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 0, difference = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(double{expected[i]}));
    const double d = std::abs(double{actual[i]} - double{expected[i]});
    if (!(d <= difference)) difference = d, where = i;
  }
  ASSERT_GT(largest, 0) << what << " is zero throughout: nothing is tested";
  EXPECT_LE(difference, tolerance * largest)
      << what << ", worst at " << where << ": " << actual[where] << " instead of " << expected[where];
}

inline constexpr double kExact = 1e-5;  // of f32 against doubles

// In f32: the values and every gradient against the formula's, also where one of several inputs needs no gradient; with
// two passes parameters have twice the gradient.
inline void expect_derivative(OpCase test) {
  const Expected expected = differentiate(test);
  const auto names = test.arrays();
  std::vector<std::optional<std::size_t>> constants{std::nullopt};
  if (test.inputs.size() > 1)
    for (std::size_t i = 0; i < test.inputs.size(); ++i) constants.emplace_back(i);
  for (const auto& constant : constants) {
    test.constant = constant;
    const std::string where = constant ? ", while there is none of " + names[*constant].name : "";
    const Outcome once = run(test);
    expect_near(once.y, expected.y, kExact, "the value");
    for (std::size_t i = 0; i < names.size(); ++i)
      if (i != constant)
        expect_near(once.grads[i], expected.grads[i], kExact, "the gradient of " + names[i].name + where);
  }

  test.constant.reset();
  test.passes = 2;
  const Outcome twice = run(test);
  for (std::size_t i = test.inputs.size(); i < names.size(); ++i) {
    std::vector<double> doubled = expected.grads[i];
    for (double& value : doubled) value *= 2;
    expect_near(twice.grads[i], doubled, kExact, "the gradient added up of " + names[i].name);
  }
}

// In bf16 and fp16: within `roundings` units in the last place of the f32 run, relative to the largest value.
inline void expect_close_in_narrow_formats(OpCase test, double roundings) {
  const auto names = test.arrays();
  test.input_type = DType::f32;
  const Outcome wide = run(test);
  for (const auto& [type, unit] : {std::pair{DType::bf16, 0x1p-8}, {DType::f16, 0x1p-11}}) {
    test.input_type = type;
    const Outcome narrow = run(test);
    const std::string format(name_of(type));
    expect_near(narrow.y, wide.y, roundings * unit, format + ", the value");
    for (std::size_t i = 0; i < names.size(); ++i)
      expect_near(narrow.grads[i], wide.grads[i], roundings * unit, format + ", the gradient of " + names[i].name);
  }
}

inline void expect_same_for_any_threads(const OpCase& test) {
  cpu::set_num_threads(1);
  const Outcome expected = run(test);
  for (const int threads : {2, 8, 16}) {
    cpu::set_num_threads(threads);
    EXPECT_TRUE(run(test) == expected) << threads << " threads give other bits than one";
  }
  cpu::set_num_threads(0);
}

}  // namespace hearth::ops
