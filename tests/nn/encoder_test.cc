#include "hearth/nn/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hearth/base/error.h"
#include "hearth/cpu/memory.h"
#include "hearth/cpu/parallel.h"
#include "hearth/nn/model.h"

namespace hearth::nn {
namespace {

using Ids = std::vector<std::int32_t>;

// On one thread: the encoder is so small that many would only wait for each other, and which scratch each of them has
// would depend on what it happened to run.
class Encoders : public testing::Test {
 protected:
  Encoders() { cpu::set_num_threads(1); }
  ~Encoders() override { cpu::set_num_threads(0); }
};
using Positions = Encoders;

constexpr EncoderNames kNames{"layer", "query",  "key",  "value",      "attention", "attention_norm",
                              "wide",  "narrow", "norm", "projection", "inner"};

TransformerConfig small_config() {
  TransformerConfig config;
  config.vocab_size = 60;
  config.hidden = 32;
  config.layers = 2;
  config.heads = 4;
  config.intermediate = 48;
  config.positions = 40;
  config.token_types = 2;
  config.init_range = 0.2f;
  config.hidden_dropout = 0.1f;
  config.attention_dropout = 0.1f;
  return config;
}

struct TestEncoder {
  explicit TestEncoder(const TransformerConfig& config) : encoder(ParameterScope(builder), config, kNames) {
    builder.parameters.allocate();
    for (const NamedParameter& each : builder.parameters.named()) initialise(builder, each.name, each.value, 1);
  }

  // The hidden states (T, H) of a training step, and the gradients of the sum of their squares, halved.
  std::vector<float> run(const Batch& batch, DType compute = DType::f32, const GradReady& ready = {}) {
    builder.parameters.zero_grad();
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    ctx.compute = compute;
    ctx.training = true;
    ctx.gradient_checkpointing = gradient_checkpointing;
    ctx.seed = 42;
    ctx.step = 5;
    const BatchPtr shared = shared_batch(batch);
    ctx.begin(shared);
    const Var y = encoder(ctx, *shared);
    hidden = y.value().clone();
    tape.backward_from(y, y.value().clone(), ready);
    builder.parameters.complete_grads();
    return compute == DType::f32 ? values_of(hidden) : std::vector<float>{};
  }

  static std::vector<float> values_of(const Tensor& tensor) {
    return {tensor.data<float>(), tensor.data<float>() + tensor.size()};
  }
  std::vector<float> grads() const { return values_of(builder.parameters.grad()); }

  ModelBuilder builder;
  Encoder encoder;
  bool gradient_checkpointing = false;
  Tensor hidden;
};

// Sequence number `sample`, whatever batch it is in.
Ids sequence(std::uint32_t sample) {
  Ids ids;
  for (std::uint32_t i = 0; i < 5 + 7 * sample; ++i)
    ids.push_back(static_cast<std::int32_t>(2 + (sample * 31 + i * 17) % 58));
  return ids;
}

Batch batch_of(const std::vector<std::uint32_t>& samples, std::int64_t length = 0) {
  Batch batch;
  for (const std::uint32_t sample : samples) {
    const Ids ids = sequence(sample);
    Ids types(ids.size());
    std::fill(types.begin() + 3, types.end(), 1);
    batch.append(ids, types, sample, length);
  }
  return batch;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(double{expected[i]}));
    difference = std::max(difference, std::abs(double{actual[i]} - expected[i]));
  }
  EXPECT_LE(difference, tolerance * largest) << what;
}

// The real tokens of sequence number `sample` in what `run` gave for the batch.
std::vector<float> rows_of(const std::vector<float>& hidden, const Batch& batch, std::uint32_t sample) {
  const auto s = static_cast<std::size_t>(std::ranges::find(batch.samples, sample) - batch.samples.begin());
  const std::int64_t width = static_cast<std::int64_t>(hidden.size()) / batch.tokens();
  const auto begin = hidden.begin() + batch.starts[s] * width;
  return {begin, begin + batch.key_counts[s] * width};
}

TEST_F(Encoders, GivesTheSameForARealTokenWhateverLiesAroundIt) {
  TestEncoder test(small_config());
  const Batch packed = batch_of({0, 1, 2});
  const std::vector<float> expected = test.run(packed);
  for (const Batch& batch : {batch_of({0, 1, 2}, 30), batch_of({2, 0, 1}), batch_of({1, 2, 0}, 21), batch_of({0}),
                             batch_of({1}), batch_of({2})}) {
    const std::vector<float> hidden = test.run(batch);
    for (const std::uint32_t sample : batch.samples)
      expect_near(rows_of(hidden, batch, sample), rows_of(expected, packed, sample), 2e-6,
                  "sequence " + std::to_string(sample));
  }
}

TEST_F(Encoders, DropoutFollowsTheSample) {
  TestEncoder test(small_config());
  Batch batch = batch_of({1});
  const std::vector<float> before = test.run(batch);
  batch.samples[0] = 2;
  EXPECT_NE(test.run(batch), before);
}

TEST_F(Encoders, GradientsDoNotDependOnTheOrderOfSequences) {
  TestEncoder test(small_config());
  test.run(batch_of({0, 1, 2}));
  const std::vector<float> expected = test.grads();
  test.run(batch_of({2, 0, 1}));
  expect_near(test.grads(), expected, 5e-6, "gradients");
}

TEST_F(Encoders, CheckpointingGivesTheSameBits) {
  for (const DType compute : {DType::f32, DType::bf16, DType::f16}) {
    TestEncoder plain(small_config()), checkpoints(small_config());
    checkpoints.gradient_checkpointing = true;
    const Batch batch = batch_of({0, 1, 2}, 22);
    std::vector<std::string> order, order_of_checkpoints;
    plain.run(batch, compute, [&](Parameter& p) { order.push_back(p.parts.front().name); });
    checkpoints.run(batch, compute, [&](Parameter& p) { order_of_checkpoints.push_back(p.parts.front().name); });
    EXPECT_EQ(plain.grads(), checkpoints.grads()) << name_of(compute);
    EXPECT_EQ(std::memcmp(plain.hidden.raw(), checkpoints.hidden.raw(), plain.hidden.bytes()), 0);
    EXPECT_EQ(order, order_of_checkpoints);
  }
}

TEST_F(Encoders, CheckpointingKeepsLess) {
  TransformerConfig config = small_config();
  config.layers = 8;
  const Batch batch = batch_of({0, 1, 2}, 40);
  const auto kept = [&](bool checkpointing) {
    TestEncoder test(config);
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    ctx.gradient_checkpointing = checkpointing;
    const BatchPtr shared = shared_batch(batch);
    ctx.begin(shared);
    const std::size_t before = cpu::pool_stats().in_use_bytes;
    const Var y = test.encoder(ctx, *shared);
    return cpu::pool_stats().in_use_bytes - before;
  };
  kept(false);  // scratch that stays
  EXPECT_LT(3 * kept(true), kept(false));
}

// A pass without a tape has at its peak the most that one layer holds at once: its input with either queries, keys,
// values and the heads' outputs, or its middle, what the feed-forward layers compute and their result.
TEST_F(Encoders, WithoutATapeValuesAreFreedAsSoonAsTheyAreRead) {
  Batch many;
  for (std::uint32_t sample = 0; sample < 400; ++sample) many.append(Ids(40, 1), Ids(40, 0), sample, 0);
  const BatchPtr batch = shared_batch(many);
  for (const std::int64_t intermediate : {16, 96}) {
    TransformerConfig config = small_config();
    config.intermediate = intermediate;
    TestEncoder test(config);
    const auto run = [&] {
      ops::Context ctx;
      ctx.begin(batch);
      test.encoder(ctx, *batch);
    };
    run();  // scratch that stays
    const cpu::PoolStats before = cpu::pool_stats();
    // With this, as much is in use as ever was, so that the peak rises by what the pass adds.
    const Tensor rest({static_cast<std::int64_t>((before.peak_bytes - before.in_use_bytes) / sizeof(float))},
                      DType::f32);
    run();
    const std::int64_t columns = std::max(5 * config.hidden, 3 * config.hidden + intermediate);
    const auto most = static_cast<double>(batch->tokens() * columns) * sizeof(float);
    EXPECT_NEAR(static_cast<double>(cpu::pool_stats().peak_bytes - before.peak_bytes), most, 0.05 * most)
        << intermediate;
  }
}

TEST_F(Encoders, ReportsGradientsFromTheArenasBeginningToItsEnd) {
  TestEncoder test(small_config());
  std::vector<std::int64_t> offsets;
  test.run(batch_of({0}), DType::f32, [&](Parameter& parameter) { offsets.push_back(parameter.offset); });
  EXPECT_EQ(offsets.size(), test.builder.parameters.parameters().size());
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
}

TEST_F(Encoders, AStepTakesNoNewMemoryOnceOneHasRun) {
  TestEncoder test(small_config());
  const Batch batch = batch_of({0, 1, 2});
  test.run(batch);
  test.run(batch);
  const cpu::PoolStats before = cpu::pool_stats();
  test.run(batch);
  EXPECT_EQ(cpu::pool_stats().high_water_bytes, before.high_water_bytes);
  EXPECT_EQ(cpu::pool_stats().in_use_bytes, before.in_use_bytes);
}

// Two groups of two layers each, which run twice.
TransformerConfig shared_config() {
  TransformerConfig config = small_config();
  config.layers = 8;
  config.layer_groups = 2;
  config.layers_per_group = 2;
  config.embedding = 16;
  return config;
}

TEST_F(Encoders, NamesTheLayersThatAreShared) {
  TransformerConfig config = shared_config();
  const auto names = [&] {
    std::vector<std::string> all;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) all.push_back(layer_name(layer, config, kNames));
    return all;
  };
  EXPECT_EQ(names(),
            (std::vector<std::string>{"layer.0.inner.0", "layer.0.inner.1", "layer.0.inner.0", "layer.0.inner.1",
                                      "layer.1.inner.0", "layer.1.inner.1", "layer.1.inner.0", "layer.1.inner.1"}));
  config.layers_per_group = 1;
  config.layers = 3;  // transformers: int(i / (3 / 2))
  EXPECT_EQ(names(), (std::vector<std::string>{"layer.0.inner.0", "layer.0.inner.0", "layer.1.inner.0"}));
  config.layer_groups = 0;
  EXPECT_EQ(names(), (std::vector<std::string>{"layer.0", "layer.1", "layer.2"}));
}

// The oracle has a copy of the shared parameters in each layer; its gradients add up to those of the shared ones.
TEST_F(Encoders, SharedLayersAreEqualLayers) {
  TransformerConfig config = shared_config(), plain = shared_config();
  config.hidden_dropout = config.attention_dropout = plain.hidden_dropout = plain.attention_dropout = 0;
  plain.layer_groups = 0;
  TestEncoder shared(config), oracle(plain);
  const auto oracle_name = [&](std::int64_t layer, const std::string& name) {
    const std::string own = layer_name(layer, config, kNames) + ".";
    return name.starts_with(own) ? layer_name(layer, plain, kNames) + "." + name.substr(own.size()) : "";
  };
  const auto in_oracle = [&](const std::string& name) {
    const auto named = oracle.builder.parameters.named();
    return *std::ranges::find(named, name, &NamedParameter::name);
  };
  for (const NamedParameter& each : shared.builder.parameters.named())
    for (std::int64_t layer = -1; layer < config.layers; ++layer) {
      const std::string name = layer < 0 && !each.name.starts_with("layer.") ? each.name
                               : layer < 0                                   ? ""
                                                                             : oracle_name(layer, each.name);
      if (!name.empty()) std::memcpy(in_oracle(name).value.raw(), each.value.raw(), each.value.bytes());
    }
  oracle.builder.parameters.mark_changed();
  const Batch batch = batch_of({0, 1, 2}, 22);
  for (const bool checkpointing : {false, true}) {
    shared.gradient_checkpointing = checkpointing;
    EXPECT_EQ(shared.run(batch), oracle.run(batch));
    for (const NamedParameter& each : shared.builder.parameters.named()) {
      if (!each.name.starts_with("layer.")) continue;
      std::vector<float> sum(static_cast<std::size_t>(each.grad.size()));
      int copies = 0;
      for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string name = oracle_name(layer, each.name);
        if (name.empty()) continue;
        ++copies;
        const Tensor grad = in_oracle(name).grad;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += grad.data<float>()[i];
      }
      EXPECT_EQ(copies, 2) << each.name;
      expect_near(TestEncoder::values_of(each.grad), sum, 1e-5, each.name);
    }
  }
}

// Each run of a layer draws other elements, as in PyTorch; recomputation draws the same ones.
TEST_F(Encoders, SharedLayersDropOtherElementsInEachRun) {
  TransformerConfig config = shared_config();
  TestEncoder test(config);
  const Batch batch = batch_of({0, 1, 2});
  const std::vector<float> hidden = test.run(batch), grads = test.grads();
  test.gradient_checkpointing = true;
  EXPECT_EQ(test.run(batch), hidden);
  EXPECT_EQ(test.grads(), grads);
  const std::uint32_t sites_of_layer = 3, sites_of_embeddings = 1;
  EXPECT_EQ(test.builder.dropout_sites, sites_of_embeddings + sites_of_layer * 8);
}

TEST_F(Encoders, RefusesHeadsThatDoNotDivideItsWidth) {
  TransformerConfig config = small_config();
  config.heads = 5;
  EXPECT_THROW(TestEncoder{config}, Error);
}

TEST_F(Encoders, CountsOperations) {
  TestEncoder test(small_config());
  // Two layers of 4 H^2 + 2 H I weights, 6 operations each per token; attention: 12 H per query and key.
  EXPECT_EQ(test.encoder.training_flops(batch_of({0}, 8)),
            2 * (6.0 * (4 * 32 * 32 + 2 * 32 * 48) * 8 + 12.0 * 32 * 8 * 5));
}

// A shared layer counts as often as it runs; the projection of the embeddings counts as well.
TEST_F(Encoders, CountsTheRunsOfSharedLayers) {
  TransformerConfig config = shared_config();
  TestEncoder test(config);
  EXPECT_EQ(test.encoder.training_flops(batch_of({0}, 8)),
            8 * (6.0 * (4 * 32 * 32 + 2 * 32 * 48) * 8 + 12.0 * 32 * 8 * 5) + 6.0 * 16 * 32 * 8);
}

// An encoder that shows each token's position: word embeddings are zero, those of position p have their largest value
// at p, and nothing follows but the norm.
std::vector<int> positions_of(TransformerConfig config, const Batch& batch) {
  config.layers = 0;
  config.hidden_dropout = 0;
  config.hidden = config.positions;
  config.heads = 1;
  config.token_types = 0;
  TestEncoder test(config);
  const auto& parameters = test.builder.parameters.parameters();
  parameters[0]->master.fill_zero();
  parameters[1]->master.fill_zero();
  for (std::int64_t p = 0; p < config.positions; ++p) parameters[1]->master.data<float>()[p * config.hidden + p] = 1;
  const std::vector<float> hidden = test.run(batch);
  std::vector<int> positions;
  for (auto row = hidden.begin(); row != hidden.end(); row += config.hidden)
    positions.push_back(static_cast<int>(std::max_element(row, row + config.hidden) - row));
  return positions;
}

Batch padded_batch(std::int32_t pad) {
  Batch batch;
  batch.append(Ids{5, 6, 7}, Ids(3), 0, 5, pad);
  batch.append(Ids{8, pad, 9}, Ids(3), 1);
  batch.append(Ids{4}, Ids(1), 2, 3, pad);
  return batch;
}

TEST_F(Positions, CountEveryToken) {
  EXPECT_EQ(positions_of(small_config(), padded_batch(0)), (std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2}));
}

TEST_F(Positions, OfRobertaFollowItsPadding) {
  TransformerConfig config = small_config();
  config.padding_id = 1;
  config.positions_follow_padding = true;
  EXPECT_EQ(positions_of(config, padded_batch(1)), (std::vector<int>{2, 3, 4, 1, 1, 2, 1, 3, 2, 1, 1}));
}

TEST_F(Positions, PaddingReceivesNoGradient) {
  TransformerConfig config = small_config();
  config.padding_id = 1;
  for (const bool roberta : {false, true}) {
    config.positions_follow_padding = roberta;
    TestEncoder test(config);
    test.run(padded_batch(1));
    const auto row_has_grad = [&](std::size_t table, std::int64_t row) {
      const Tensor grad = test.builder.parameters.parameters()[table]->grad.slice(row, row + 1);
      return std::any_of(grad.data<float>(), grad.data<float>() + grad.size(), [](float g) { return g != 0; });
    };
    EXPECT_FALSE(row_has_grad(0, 1));
    EXPECT_TRUE(row_has_grad(0, 5));
    EXPECT_EQ(row_has_grad(1, 1), !roberta);
    EXPECT_TRUE(row_has_grad(1, 2));
  }
}

}  // namespace
}  // namespace hearth::nn
