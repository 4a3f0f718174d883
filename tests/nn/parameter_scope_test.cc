#include "hearth/nn/parameter_scope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hearth/nn/layers.h"

namespace hearth::nn {
namespace {

TEST(ParameterScope, SpellsNamesFromTheRoot) {
  ModelBuilder builder;
  const ParameterScope root(builder);
  const ParameterScope layer = root / "bert" / "encoder.layer.0";
  EXPECT_EQ(layer.parameter("weight", {2, 3}, Init::zeros()).parts.front().name, "bert.encoder.layer.0.weight");
  EXPECT_EQ(root.parameter("bias", {2}, Init::zeros()).parts.front().name, "bias");
  EXPECT_TRUE(builder.parameters.contains("bert.encoder.layer.0.weight"));
}

TEST(ParameterScope, StacksParametersUnderTheirOwnNames) {
  ModelBuilder builder;
  const ParameterScope scope = ParameterScope(builder) / "self";
  const Parameter& qkv = scope.stacked({"query", "key", "value"}, "weight", {4, 4}, Init::ones());
  EXPECT_EQ(qkv.shape, (Shape{12, 4}));
  ASSERT_EQ(qkv.parts.size(), 3u);
  EXPECT_EQ(qkv.parts[0].name, "self.query.weight");
  EXPECT_EQ(qkv.parts[2].name, "self.value.weight");
  EXPECT_EQ(qkv.parts[2].offset, 32);
}

TEST(ParameterScope, TellsDropoutSitesApart) {
  ModelBuilder builder;
  const ParameterScope root(builder), other = root / "other";
  EXPECT_NE(root.dropout_site(), other.dropout_site());
  EXPECT_NE(root.dropout_site(), root.dropout_site());
}

TEST(Layers, NameTheirParametersAndMarkNorms) {
  ModelBuilder builder;
  const Linear linear(ParameterScope(builder) / "dense", 3, 5);
  const LayerNorm norm(ParameterScope(builder) / "LayerNorm", 5);
  const auto& parameters = builder.parameters.parameters();
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[0]->parts.front().name, "dense.weight");
  EXPECT_EQ(parameters[0]->shape, (Shape{5, 3}));
  EXPECT_EQ(parameters[1]->parts.front().name, "dense.bias");
  EXPECT_EQ(parameters[2]->parts.front().name, "LayerNorm.weight");
  EXPECT_EQ(parameters[3]->parts.front().name, "LayerNorm.bias");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(parameters[i]->is_norm, i >= 2);
}

TEST(Layers, MayHaveNoBias) {
  ModelBuilder builder;
  const Linear linear(ParameterScope(builder) / "dense", 3, 5, {.bias = false});
  EXPECT_EQ(builder.parameters.parameters().size(), 1u);
  EXPECT_FALSE(builder.parameters.contains("dense.bias"));
}

TEST(Layers, EmbeddingsAreMarked) {
  ModelBuilder builder;
  const Embedding words(ParameterScope(builder) / "words", 7, 4);
  EXPECT_TRUE(words.weight().is_embedding);
  EXPECT_EQ(words.weight().shape, (Shape{7, 4}));
  EXPECT_EQ(words.weight().parts.front().name, "words.weight");
}

// The values of one parameter of a model that has others before it.
std::vector<float> initialised(const std::string& name, Init init, std::uint64_t seed, int others_before = 0,
                               std::int64_t size = 100000) {
  ModelBuilder builder;
  const ParameterScope root(builder);
  for (int i = 0; i < others_before; ++i) root.parameter("other." + std::to_string(i), {5}, Init::normal(1));
  Parameter& parameter = root.parameter(name, {size}, init);
  builder.parameters.allocate();
  initialise(builder, name, parameter.master, seed);
  return {parameter.master.data<float>(), parameter.master.data<float>() + size};
}

double mean_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    ab += double{a[i]} * b[i], aa += double{a[i]} * a[i], bb += double{b[i]} * b[i];
  return ab / std::sqrt(aa * bb);
}

TEST(Initialise, DependsOnSeedAndNameAlone) {
  const Init init = Init::normal(0.02f);
  const std::vector<float> values = initialised("dense.weight", init, 42);
  EXPECT_EQ(values, initialised("dense.weight", init, 42, 3));
  EXPECT_NEAR(correlation(values, initialised("dense.weight", init, 43)), 0, 0.02);
  EXPECT_NEAR(correlation(values, initialised("dense.weighs", init, 42)), 0, 0.02);
  EXPECT_NE(values, initialised("dense.weight", init, 43));
}

TEST(Initialise, DrawsNormalNumbersOfTheDeviationAsked) {
  const std::vector<float> values = initialised("dense.weight", Init::normal(0.02f), 7);
  double squares = 0, largest = 0;
  std::size_t within_one = 0;
  for (const float value : values) {
    squares += double{value} * value;
    largest = std::max(largest, std::abs(double{value}));
    within_one += std::abs(value) < 0.02f;
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(mean_of(values), 0, 0.02 * 4 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 0.0002);
  EXPECT_NEAR(static_cast<double>(within_one) / count, 0.6827, 0.006);
  EXPECT_GT(largest, 3.5 * 0.02);
  EXPECT_LT(largest, 7 * 0.02);
}

TEST(Initialise, FillsConstants) {
  EXPECT_EQ(initialised("norm.weight", Init::ones(), 1, 0, 3), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(initialised("norm.bias", Init::zeros(), 1, 0, 3), (std::vector<float>{0, 0, 0}));
}

TEST(Initialise, FillsThePartOfItsNameOnly) {
  ModelBuilder builder;
  Parameter& parameter = ParameterScope(builder).stacked({"query", "key"}, "bias", {2}, Init::ones());
  builder.parameters.allocate();
  parameter.master.fill_zero();
  initialise(builder, "key.bias", parameter.master_part(parameter.parts[1]), 1);
  const float* values = parameter.master.data<float>();
  EXPECT_EQ(std::vector<float>(values, values + 4), (std::vector<float>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace hearth::nn
