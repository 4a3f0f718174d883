// Frozen parameters: they get no gradient, everything else computes what it computes without freezing, to the bit, and
// nothing is kept for a backward pass that nobody needs.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "hearth/cpu/memory.h"
#include "hearth/ops/attention.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/gradient_checkpointing.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/rows.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

using Names = std::set<std::string>;

constexpr std::int64_t kHidden = 32;

const std::vector<Array> kArrays = {{"words", {11, kHidden}},
                                    {"positions", {6, kHidden}},
                                    {"gamma", {kHidden}, 0.3f, 1},
                                    {"beta", {kHidden}},
                                    {"qkv", {3 * kHidden, kHidden}, 0.2f},
                                    {"qkv bias", {3 * kHidden}},
                                    {"mixed gamma", {kHidden}, 0.3f, 1},
                                    {"mixed beta", {kHidden}},
                                    {"output", {7, kHidden}, 0.3f},
                                    {"output bias", {7}}};

struct Settings {
  DType compute = DType::f32;
  DType stored = DType::f32;  // of the frozen parameters
  bool checkpoints = false;
};

struct Result {
  std::vector<float> y;
  std::map<std::string, std::vector<float>> grads;  // of the parameters that have one
  bool needs_grad = false;
  std::vector<std::string> ready;  // in the order of backward
  bool operator==(const Result&) const = default;
};

// Embeddings, a layer with attention, and an output for each sequence.
Result run(const Names& frozen, const Settings& settings = {}) {
  ParameterStore store;
  std::map<std::string, Parameter*> p;
  for (const Array& array : kArrays) p[array.name] = &store.add({{array.name, array.shape, 0}});
  p["words"]->is_embedding = p["positions"]->is_embedding = true;
  store.freeze([&](std::string_view name) { return frozen.contains(std::string(name)); });
  store.allocate();
  std::uint32_t seed = 1;
  for (const Array& array : kArrays) {
    Parameter& parameter = *p[array.name];
    const std::vector<float> numbers = random_numbers(array.shape.size(), seed++, array.deviation, array.shift);
    if (!parameter.trainable) parameter.store_as(settings.stored);
    kernels::convert(DType::f32, numbers.data(), parameter.master.type(), parameter.master.raw(), array.shape.size());
  }
  store.mark_changed();

  const Packed packed({5, 3, 4}, {5, 2, 4});
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  ctx.compute = settings.compute;
  ctx.training = true;
  ctx.seed = 3;
  ctx.sequences = packed.view();
  const auto layer = [&p](Context& inner, const Var& x) {
    const Var qkv = linear(inner, x, *p.at("qkv"), p.at("qkv bias"), kernels::Activation::gelu);
    const Var mixed = attention(inner, qkv, 4, 0.1f, 1);
    return layer_norm(inner, mixed, x, *p.at("mixed gamma"), *p.at("mixed beta"), 1e-5f, 0.1f, 2);
  };
  const Var embedded = embedding_sum(ctx, {{p["words"], {1, 2, 3, 4, 5, 10, 9, 1, 7, 7, 0, 2}, 0},
                                           {p["positions"], {0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3}, -1}});
  const Var normed = layer_norm(ctx, embedded, *p["gamma"], *p["beta"], 1e-5f);
  const Var kept = dropout(ctx, normed, 0.1f, 0);
  const Var mixed = settings.checkpoints ? checkpointed(ctx, kept, layer) : layer(ctx, kept);
  const Var first = first_tokens(ctx, mixed);
  const Var y = linear(ctx, first, *p["output"], p["output bias"]);

  Result result;
  result.y = numbers_of(y.value());
  result.needs_grad = y.needs_grad();
  if (y.needs_grad())
    tape.backward_from(y, tensor_of(random_numbers(y.value().size(), 99), y.value().shape(), settings.compute),
                       [&](Parameter& parameter) { result.ready.push_back(parameter.parts.front().name); });
  EXPECT_EQ(tape.use_count() > 0, frozen.size() < kArrays.size());
  store.complete_grads();
  for (const auto& [name, parameter] : p)
    if (parameter->grad.defined()) result.grads[name] = numbers_of(parameter->grad);
  return result;
}

Names all_names() {
  Names names;
  for (const Array& array : kArrays) names.insert(array.name);
  return names;
}

// One parameter, all but one, the first few as --freeze_layers freezes them, and the last few.
std::vector<Names> choices() {
  std::vector<Names> result;
  Names first, last;
  for (std::size_t i = 0; i < kArrays.size(); ++i) {
    const std::string& name = kArrays[i].name;
    result.push_back({name});
    Names others = all_names();
    others.erase(name);
    result.push_back(others);
    result.push_back(first);
    first.insert(name);
    result.push_back(last);
    last.insert(kArrays[kArrays.size() - 1 - i].name);
  }
  return result;
}

std::string text_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + ", ";
  return text;
}

void expect_same_but_for_the_frozen(const Result& some, const Result& all, const Names& frozen) {
  EXPECT_EQ(some.y, all.y) << text_of(frozen);
  EXPECT_TRUE(some.needs_grad);
  for (const auto& [name, grad] : all.grads) {
    ASSERT_EQ(some.grads.contains(name), !frozen.contains(name)) << name << " without " << text_of(frozen);
    if (frozen.contains(name)) continue;
    EXPECT_EQ(some.grads.at(name), grad) << name << " without " << text_of(frozen);
    EXPECT_TRUE(std::ranges::any_of(grad, [](float g) { return g != 0; })) << name;
  }
  std::vector<std::string> expected;
  for (const std::string& name : all.ready)
    if (!frozen.contains(name)) expected.push_back(name);
  EXPECT_EQ(some.ready, expected);
}

TEST(Frozen, TheOthersHaveTheGradientsOfAModelWithoutFreezing) {
  for (const DType compute : {DType::f32, DType::bf16}) {
    const Result all = run({}, {.compute = compute});
    EXPECT_EQ(all.grads.size(), kArrays.size());
    for (const Names& frozen : choices())
      expect_same_but_for_the_frozen(run(frozen, {.compute = compute}), all, frozen);
  }
}

TEST(Frozen, GradientCheckpointingChangesNothing) {
  const Result all = run({});
  for (const Names& frozen : choices()) expect_same_but_for_the_frozen(run(frozen, {.checkpoints = true}), all, frozen);
}

// The numbers of random_numbers are those of bf16.
TEST(Frozen, SixteenBitsInMemoryChangeNothing) {
  for (const DType compute : {DType::f32, DType::bf16, DType::f16})
    for (const Names& frozen : choices())
      EXPECT_TRUE(run(frozen, {.compute = compute, .stored = DType::bf16}) == run(frozen, {.compute = compute}))
          << text_of(frozen) << name_of(compute);
}

TEST(Frozen, NothingIsRecordedWhereNothingIsTrained) {
  for (const bool checkpoints : {false, true}) {
    const Result none = run(all_names(), {.checkpoints = checkpoints});
    EXPECT_FALSE(none.needs_grad);
    EXPECT_TRUE(none.grads.empty());
    EXPECT_EQ(none.y, run({}).y);
  }
}

TEST(Frozen, NothingIsKeptBelowTheFirstTrainableParameter) {
  ParameterStore store;
  Parameter& weight = store.add({{"weight", {64, 64}, 0}});
  Parameter& last = store.add({{"last", {1, 64}, 0}});
  store.freeze([](std::string_view name) { return name == "weight"; });
  store.allocate();
  weight.master.fill_zero();
  last.master.fill_zero();
  const auto kept = [&](bool needs_grad) {
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    Var x(Tensor::zeros({256, 64}, DType::f32), needs_grad);
    const std::size_t before = cpu::pool_stats().in_use_bytes;
    for (int layer = 0; layer < 8; ++layer) x = linear(ctx, x, weight, nullptr, kernels::Activation::gelu);
    x = linear(ctx, x, last, nullptr);
    EXPECT_TRUE(x.needs_grad());
    return cpu::pool_stats().in_use_bytes - before;
  };
  kept(false);  // scratch that stays
  EXPECT_LT(4 * kept(false), kept(true));
}

}  // namespace
}  // namespace hearth::ops
