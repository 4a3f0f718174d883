#include "hearth/ops/finite_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "hearth/ops/attention.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/gradient_checkpointing.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kHidden = 4;

// embedding -> layer norm -> query, key, value -> attention -> linear, of two tokens.
class FiniteCheckTest : public testing::Test {
 protected:
  // Changes element `at` of a parameter.
  struct Change {
    std::string name;
    float value;
    std::int64_t at = 0;
  };

  // What a check finds in a forward and a backward pass that starts from `dy`.
  std::string found(const std::vector<Change>& changes, float dy = 1,
                    FiniteCheck::Scope scope = FiniteCheck::Scope::values_and_gradients) const {
    ParameterStore store;
    Parameter& words = store.add({{"words.weight", {3, kHidden}, 0}});
    Parameter& gamma = store.add({{"norm.weight", {kHidden}, 0}});
    Parameter& beta = store.add({{"norm.bias", {kHidden}, 0}});
    Parameter& qkv = store.add({{"self.query.weight", {kHidden, kHidden}, 0},
                                {"self.key.weight", {kHidden, kHidden}, 0},
                                {"self.value.weight", {kHidden, kHidden}, 0}});
    Parameter& dense = store.add({{"dense.weight", {kHidden, kHidden}, 0}});
    words.is_embedding = true;
    if (freezes_) store.freeze([](std::string_view name) { return !name.starts_with("dense"); });
    store.allocate();
    fill(store, changes);

    FiniteCheck check(scope);
    Tape tape;
    const Packed packed({2});
    Context ctx;
    ctx.tape = &tape;
    ctx.sequences = packed.view();
    ctx.compute = type_;
    ctx.finite_check = &check;
    const Var x = embedding_sum(ctx, {{&words, {0, 1}, -1}});
    const auto layer = [&](Context& inner, const Var& input) {
      const Var normed = layer_norm(inner, input, gamma, beta, 1e-5f);
      const Var mixed = attention(inner, linear(inner, normed, qkv, nullptr), 1, 0, 0);
      return linear(inner, mixed, dense, nullptr);
    };
    const Var y = checkpoints_ ? checkpointed(ctx, x, layer) : layer(ctx, x);
    tape.backward_from(y, tensor_of(std::vector<float>(2 * kHidden, dy), {2, kHidden}, type_));
    return check.found();
  }

  bool freezes_ = false, checkpoints_ = false;
  DType type_ = DType::f32;

 private:
  static void fill(const ParameterStore& store, const std::vector<Change>& changes) {
    std::uint32_t seed = 0;
    for (const NamedParameter& each : store.named()) {
      each.value.copy_from(tensor_of(random_numbers(each.value.size(), ++seed), each.value.shape()));
      for (const Change& change : changes)
        if (change.name == each.name) each.value.data<float>()[change.at] = change.value;
    }
  }
};

TEST_F(FiniteCheckTest, FindsNothingWhereAllIsFinite) {
  for (const bool checkpoints : {false, true}) {
    checkpoints_ = checkpoints;
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      type_ = type;
      EXPECT_EQ(found({}), "");
    }
  }
}

TEST_F(FiniteCheckTest, NamesAWeight) {
  for (const bool freezes : {false, true})
    for (const bool checkpoints : {false, true}) {
      freezes_ = freezes;
      checkpoints_ = checkpoints;
      EXPECT_EQ(found({{"self.key.weight", kNan, 5}}), "NaN in the weight self.key.weight");
      EXPECT_EQ(found({{"words.weight", -kInfinity, kHidden}}), "an infinity in the weight words.weight");
      EXPECT_EQ(found({{"norm.bias", kInfinity}, {"dense.weight", kNan}}), "an infinity in the weight norm.bias");
    }
}

// A row of an embedding that no token names does no harm.
TEST_F(FiniteCheckTest, LooksAtWhatIsUsed) { EXPECT_EQ(found({{"words.weight", kNan, 2 * kHidden}}), ""); }

// ReLU turns an infinity below zero into zero.
TEST(FiniteCheckOfLinear, NamesTheLayerWhoseActivationHidesAnOverflow) {
  const auto found = [](float weight, bool is_frozen) {
    ParameterStore store;
    Parameter& dense = store.add({{"dense.weight", {2, 2}, 0}});
    if (is_frozen) store.freeze([](std::string_view) { return true; });
    store.allocate();
    dense.master.copy_from(tensor_of(std::vector<float>(4, weight), {2, 2}));
    FiniteCheck check(FiniteCheck::Scope::values);
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    ctx.finite_check = &check;
    linear(ctx, Var(tensor_of({1e10f, 1e10f}, {1, 2})), dense, nullptr, kernels::Activation::relu);
    return check.found();
  };
  for (const bool is_frozen : {false, true}) {
    EXPECT_EQ(found(-1, is_frozen), "");
    EXPECT_EQ(found(-1e30f, is_frozen), "an infinity in the output of linear dense");
  }
}

TEST(FiniteCheckOfFeedForward, NamesTheLayerThatOverflows) {
  const auto found = [](float first_weight, float second_weight) {
    ParameterStore store;
    Parameter& first = store.add({{"intermediate.weight", {2, 2}, 0}});
    Parameter& second = store.add({{"output.weight", {2, 2}, 0}});
    store.allocate();
    std::fill_n(first.master.data<float>(), 4, first_weight);
    std::fill_n(second.master.data<float>(), 4, second_weight);
    FiniteCheck check(FiniteCheck::Scope::values);
    Context ctx;
    ctx.finite_check = &check;
    feed_forward(ctx, Var(tensor_of({1e10f, 1e10f}, {1, 2})), {&first, nullptr}, kernels::Activation::relu,
                 {&second, nullptr});
    return check.found();
  };
  EXPECT_EQ(found(1, 1), "");
  EXPECT_EQ(found(1e30f, 1), "an infinity in the output of linear intermediate");
  EXPECT_EQ(found(-1e30f, 1), "an infinity in the output of linear intermediate") << "ReLU turns it into zero";
  EXPECT_EQ(found(1, 1e30f), "an infinity in the output of feed_forward output");
}

TEST_F(FiniteCheckTest, NamesTheOpThatOverflows) {
  for (const bool checkpoints : {false, true}) {
    checkpoints_ = checkpoints;
    EXPECT_EQ(found({{"norm.weight", 3e38f, 1}, {"self.query.weight", 1e10f, 1}}),
              "an infinity in the output of linear self.query");
    EXPECT_EQ(found({{"norm.weight", 1e15f, 1}, {"self.query.weight", 1e15f, 1}, {"self.key.weight", 1e15f, 1}}),
              "NaN in the output of attention after self.query");
  }
}

TEST_F(FiniteCheckTest, NamesTheFirstOpOfBackward) {
  for (const bool checkpoints : {false, true}) {
    checkpoints_ = checkpoints;
    EXPECT_EQ(found({{"dense.weight", 1e30f}, {"self.value.weight", 0}}, 1e30f),
              "an infinity in the gradients of linear dense");
    EXPECT_EQ(found({{"dense.weight", 1e30f}}, 1e30f, FiniteCheck::Scope::values), "");
  }
}

// The numbers do not fit into fp16, but into the other dtypes.
TEST_F(FiniteCheckTest, LooksAtTheDtypeOfTheOp) {
  const std::vector<Change> changes{{"norm.weight", 1e4f, 1}, {"self.value.weight", 1e2f, 1}};
  EXPECT_EQ(found(changes), "");
  type_ = DType::bf16;
  EXPECT_EQ(found(changes), "");
  type_ = DType::f16;
  EXPECT_EQ(found(changes), "an infinity in the output of linear self.query");
}

}  // namespace
}  // namespace hearth::ops
