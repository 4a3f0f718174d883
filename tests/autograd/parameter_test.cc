#include "hearth/autograd/parameter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "hearth/cpu/memory.h"
#include "tests/support.h"

namespace hearth {
namespace {

class Store : public testing::Test {
 protected:
  Store()
      : first_(store_.add({{"first", {3, 5}, 0}})),
        norm_(store_.add({{"norm", {7}, 0}}, true)),
        qkv_(store_.add({{"query", {2, 3}, 0}, {"key", {2, 3}, 0}, {"value", {2, 3}, 0}})) {}

  ParameterStore store_;
  Parameter &first_, &norm_, &qkv_;
};

TEST_F(Store, LaysParametersOutInReverseOrderOfUse) {
  store_.allocate();
  EXPECT_EQ(qkv_.offset, 0);
  EXPECT_LT(qkv_.offset, norm_.offset);
  EXPECT_LT(norm_.offset, first_.offset);
  EXPECT_EQ(store_.element_count(), 15 + 7 + 18);
  EXPECT_GE(store_.size(), store_.element_count());
  for (const auto& parameter : store_.parameters()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(parameter->master.raw()) % 64, 0u);
    EXPECT_EQ(parameter->master.raw(), store_.master().data<float>() + parameter->offset);
    EXPECT_EQ(parameter->grad.raw(), store_.grad().data<float>() + parameter->offset);
    EXPECT_EQ(parameter->master.shape(), parameter->shape);
  }
  EXPECT_EQ(store_.parameters().front().get(), &first_);
}

TEST_F(Store, StacksParts) {
  store_.allocate();
  EXPECT_EQ(qkv_.shape, (Shape{6, 3}));
  ASSERT_EQ(qkv_.parts.size(), 3u);
  EXPECT_EQ(qkv_.master_part(qkv_.parts[1]).raw(), qkv_.master.slice(2, 4).raw());
  EXPECT_EQ(qkv_.grad_part(qkv_.parts[2]).raw(), qkv_.grad.slice(4, 6).raw());
  EXPECT_EQ(qkv_.grad_part(qkv_.parts[2]).shape(), (Shape{2, 3}));
}

TEST_F(Store, KnowsEveryName) {
  EXPECT_TRUE(store_.contains("first"));
  EXPECT_TRUE(store_.contains("value"));
  EXPECT_FALSE(store_.contains("valu"));
  EXPECT_TRUE(norm_.is_norm);
  EXPECT_FALSE(qkv_.is_norm);
}

TEST_F(Store, RefusesTwoOfAName) {
  EXPECT_THROW(store_.add({{"key", {1}, 0}}), Error);
  EXPECT_THROW(store_.add({{"twin", {1}, 0}, {"twin", {1}, 0}}), Error);
}

TEST_F(Store, RefusesPartsThatDoNotStack) {
  EXPECT_THROW(store_.add({{"a", {2, 3}, 0}, {"b", {3, 2}, 0}}), Error);
  EXPECT_THROW(store_.add({{"a", {1, 3}, 0}, {"b", {1, 2}, 0}, {"c", {1, 4}, 0}}), Error);
}

TEST_F(Store, RefusesParametersOnceItsMemoryIsTaken) {
  store_.allocate();
  EXPECT_THROW(store_.add({{"late", {1}, 0}}), Error);
}

TEST_F(Store, ZeroGradOnlyMarksAndCompleteGradsClearsWhatWasNotBegun) {
  store_.allocate();
  const auto fill = [](const Parameter& parameter, float value) { parameter.grad.data<float>()[0] = value; };
  fill(first_, 1);
  fill(norm_, 2);
  store_.zero_grad();
  EXPECT_EQ(first_.grad.data<float>()[0], 1);
  EXPECT_FALSE(first_.has_grad);
  norm_.has_grad = true;
  store_.complete_grads();
  EXPECT_EQ(first_.grad.data<float>()[0], 0);
  EXPECT_EQ(norm_.grad.data<float>()[0], 2);
  for (const auto& parameter : store_.parameters()) EXPECT_TRUE(parameter->has_grad);
}

TEST_F(Store, ForgetsSumsOfSquaresOfGradientsThatChange) {
  store_.allocate();
  const auto known = [&] {
    first_.grad_squares = 1;
    norm_.grad_squares = 2;
  };
  known();
  store_.zero_grad();
  EXPECT_FALSE(first_.grad_squares.has_value());
  known();
  norm_.has_grad = true;
  store_.complete_grads();
  EXPECT_FALSE(first_.grad_squares.has_value());
  EXPECT_EQ(norm_.grad_squares, 2);
  norm_.begin_grad();
  EXPECT_FALSE(norm_.grad_squares.has_value());
  known();
  store_.move_arenas(store_.master().clone(), store_.grad().clone());
  EXPECT_FALSE(norm_.grad_squares.has_value());
}

TEST_F(Store, CountsChanges) {
  store_.allocate();
  const std::uint64_t before = qkv_.version;
  store_.mark_changed();
  EXPECT_GT(qkv_.version, before);
}

TEST_F(Store, ClearsOnlyRowsThatMayDifferFromZero) {
  first_.is_embedding = true;
  store_.allocate();
  float* const grad = first_.grad.data<float>();
  const auto fill = [&] { std::fill(grad, grad + first_.grad.size(), 1.0f); };
  fill();
  first_.clear_grad();  // nothing is known yet
  EXPECT_EQ(std::count(grad, grad + 15, 0.0f), 15);
  fill();
  first_.grad_rows.add(std::vector<std::int32_t>{1});
  first_.clear_grad();
  EXPECT_EQ(std::count(grad, grad + 15, 0.0f), 5);
  EXPECT_EQ(grad[5], 0);
  EXPECT_TRUE(first_.grad_rows.list().empty());
  first_.grad_rows.add_all();
  first_.clear_grad();
  EXPECT_EQ(std::count(grad, grad + 15, 0.0f), 15);
}

using Frozen = Store;

bool is_first(std::string_view name) { return name == "first"; }

TEST_F(Frozen, HaveMemoryOfTheirOwnAndNoGradient) {
  store_.freeze(is_first);
  store_.allocate();
  EXPECT_FALSE(first_.trainable);
  EXPECT_FALSE(first_.grad.defined());
  EXPECT_EQ(first_.master.shape(), first_.shape);
  EXPECT_EQ(first_.master.type(), DType::f32);
  const float *begin = store_.master().data<float>(), *end = begin + store_.size();
  EXPECT_TRUE(first_.master.data<float>() + first_.master.size() <= begin || first_.master.data<float>() >= end);
  EXPECT_EQ(store_.size(), 2 * 16 + 16);  // query, key and value; norm
  EXPECT_EQ(store_.master().size(), store_.size());
  EXPECT_EQ(store_.grad().size(), store_.size());
  EXPECT_EQ(store_.element_count(), 15 + 7 + 18);
  EXPECT_EQ(store_.trainable_count(), 7 + 18);
  EXPECT_EQ(store_.trainable(), (std::vector<Parameter*>{&norm_, &qkv_}));
  EXPECT_EQ(qkv_.offset, 0);
  EXPECT_EQ(norm_.offset, 32);
}

TEST_F(Frozen, TakeNoMemoryForGradients) {
  const auto taken = [](bool frozen) {
    ParameterStore store;
    store.add({{"large", {1 << 20}, 0}});
    store.add({{"small", {16}, 0}});
    if (frozen) store.freeze([](std::string_view name) { return name == "large"; });
    const std::size_t before = cpu::pool_stats().in_use_bytes;
    store.allocate();
    return cpu::pool_stats().in_use_bytes - before;
  };
  EXPECT_LT(taken(true), 6u << 20);
  EXPECT_GE(taken(false), 8u << 20);
}

TEST_F(Frozen, AreNamedWithoutAGradient) {
  store_.freeze([](std::string_view name) { return name == "query" || name == "key" || name == "value"; });
  store_.allocate();
  const std::vector<NamedParameter> named = store_.named();
  ASSERT_EQ(named.size(), 5u);
  for (const NamedParameter& each : named) {
    const bool is_frozen = each.parameter == &qkv_;
    EXPECT_EQ(each.grad.defined(), !is_frozen) << each.name;
    EXPECT_TRUE(each.value.defined());
  }
  EXPECT_EQ(named[3].name, "key");
  EXPECT_EQ(named[3].value.raw(), qkv_.master.slice(2, 4).raw());
}

TEST_F(Frozen, MayBeStoredInSixteenBits) {
  store_.freeze(is_first);
  store_.allocate();
  first_.store_as(DType::f16);
  EXPECT_EQ(first_.master.type(), DType::f16);
  EXPECT_EQ(first_.master.shape(), first_.shape);
  EXPECT_EQ(store_.named()[0].value.type(), DType::f16);
  const std::string error = error_of([&] { norm_.store_as(DType::f16); });
  EXPECT_TRUE(contains(error, "norm is trainable, so it is stored in fp32")) << error;
}

TEST_F(Frozen, StackedOnesAreWholeOrNot) {
  const std::string error = error_of([&] { store_.freeze([](std::string_view name) { return name == "key"; }); });
  EXPECT_TRUE(contains(error, "only a part of query, key, value would be frozen")) << error;
  EXPECT_TRUE(qkv_.trainable);
  store_.freeze([](std::string_view name) { return name != "first" && name != "norm"; });
  EXPECT_FALSE(qkv_.trainable);
  EXPECT_TRUE(first_.trainable);
}

TEST_F(Frozen, AreChosenBeforeMemoryIsTaken) {
  store_.allocate();
  EXPECT_THROW(store_.freeze(is_first), Error);
  EXPECT_TRUE(first_.trainable);
}

TEST_F(Frozen, StayOutOfEveryStep) {
  store_.freeze(is_first);
  store_.allocate();
  const std::uint64_t before = first_.version, of_norm = norm_.version;
  store_.zero_grad();
  store_.complete_grads();
  store_.mark_updated();
  EXPECT_FALSE(first_.has_grad);
  EXPECT_TRUE(norm_.has_grad);
  EXPECT_EQ(first_.version, before);
  EXPECT_GT(norm_.version, of_norm);
  store_.mark_changed();
  EXPECT_GT(first_.version, before);
}

TEST_F(Store, SaysWhenItHasNoMemoryYet) {
  EXPECT_FALSE(store_.is_allocated());
  const std::string sentence =
      "[ParameterStore] the parameters have no memory yet: call initialise(seed) or load_weights(folder) of the model "
      "first";
  EXPECT_EQ(error_of([&] { store_.named(); }), sentence);
  EXPECT_EQ(error_of([&] { store_.complete_grads(); }), sentence);
  EXPECT_EQ(error_of([&] { acquire(first_); }),
            "first has no memory yet: call initialise(seed) or load_weights(folder) of its model before forward");
  store_.allocate();
  EXPECT_TRUE(store_.is_allocated());
  EXPECT_EQ(store_.named().size(), store_.parameters().size() + 2);
  EXPECT_EQ(first_.store, &store_);
}

}  // namespace
}  // namespace hearth
