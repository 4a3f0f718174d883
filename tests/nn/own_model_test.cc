// A model, a loss and a training loop as a user of the library writes them.
#include <gtest/gtest.h>

#include <cstring>

#include "hearth/cpu/parallel.h"
#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/matmul.h"
#include "hearth/ops/reductions.h"
#include "hearth/ops/rows.h"
#include "hearth/optim/optimizer.h"
#include "tests/support.h"

namespace hearth {
namespace {

constexpr std::int64_t kWords = 12, kClasses = 3;

class OwnModel final : public nn::Model {
 public:
  explicit OwnModel(std::int64_t hidden = 16)
      : words_(root() / "words", kWords, hidden, 0),
        positions_(root() / "positions", 8, hidden),
        layer_(root() / "layer.0", {.hidden = hidden, .heads = 2, .intermediate = 32, .hidden_dropout = 0.1f}),
        dropout_(root(), 0.1f),
        classifier_(root() / "classifier", hidden, kClasses, {.init_range = 0.2f}) {}

  nn::ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) override {
    ctx.begin(batch);
    const Var words = words_(ctx, batch->input_ids);
    const Var positions = positions_(ctx, batch->position_ids());
    const Var embedded = ops::add(ctx, words, positions);
    const Var mixed = layer_(ctx, embedded);
    const Var pooled = ops::mean_tokens(ctx, mixed);
    const Var kept = dropout_(ctx, pooled);
    return nn::classified(ctx, *batch, classifier_.logits(ctx, kept));
  }

 private:
  nn::Embedding words_, positions_;
  nn::TransformerEncoderLayer layer_;
  nn::Dropout dropout_;
  nn::Linear classifier_;
};

// Sequences of one word, whose class it decides.
BatchPtr batch_of(std::int32_t first, std::int64_t count) {
  Batch batch;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t word = 1 + (first + i) % (static_cast<std::int32_t>(kWords) - 1);
    const std::vector<std::int32_t> ids(static_cast<std::size_t>(2 + i % 3), word), types(ids.size());
    batch.append(ids, types, static_cast<std::uint32_t>(i), 5);
    batch.labels["labels"].push_back(word % kClasses);
  }
  return shared_batch(std::move(batch));
}

class OwnModels : public TemporaryFolder {
 protected:
  OwnModels() { cpu::set_num_threads(1); }
  ~OwnModels() override { cpu::set_num_threads(0); }
};

// Returns the losses of an own loop.
std::vector<float> train(nn::Model& model, int steps, DType compute = DType::f32) {
  const auto optimizer = optim::make_optimizer({}, model.parameters());
  std::vector<float> losses;
  for (int step = 0; step < steps; ++step) {
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    ctx.compute = compute;
    ctx.training = true;
    ctx.step = static_cast<std::uint64_t>(step);
    model.parameters().zero_grad();
    const Var loss = model.forward(ctx, batch_of(step, 8)).loss;
    loss.backward();
    model.parameters().complete_grads();
    optimizer->step(1e-2);
    losses.push_back(loss.value().item());
  }
  return losses;
}

TEST_F(OwnModels, Learn) {
  for (const DType compute : {DType::f32, DType::bf16}) {
    OwnModel model;
    model.initialise(1);
    const std::vector<float> losses = train(model, 60, compute);
    EXPECT_GT(losses.front(), 0.8f);
    EXPECT_LT(losses.back(), 0.2f) << name_of(compute);
  }
}

// Contrastive: the pooled words of each sequence are to be nearest to themselves.
TEST_F(OwnModels, MayHaveALossOfTheirOwn) {
  class Contrast final : public nn::Model {
   public:
    Contrast() : words_(root() / "words", kWords, 8, 0, 0.5f) {}
    nn::ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) override {
      ctx.begin(batch);
      const Var words = words_(ctx, batch->input_ids);
      const Var pooled = ops::mean_tokens(ctx, words);  // (S, H)
      const Var scores = ops::matmul(ctx, pooled, pooled, {.transpose_b = true, .out = DType::f32});
      const Var others = ops::mean(ctx, scores);
      const Var squares = ops::multiply(ctx, pooled, pooled);
      const Var own = ops::mean(ctx, squares);
      return {ops::subtract(ctx, others, own), scores};
    }

   private:
    nn::Embedding words_;
  } model;
  model.initialise(1);
  const std::vector<float> losses = train(model, 20, DType::bf16);
  EXPECT_LT(losses.back(), losses.front() - 0.05f);
}

TEST_F(OwnModels, SaveAndLoadTheirWeights) {
  OwnModel model, same, wider(32);
  model.initialise(1);
  train(model, 2);
  model.save_pretrained(folder_ / "saved");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "saved" / "config.json"));
  same.load_weights(folder_ / "saved");
  const auto loss_of = [](nn::Model& any) {
    ops::Context ctx;
    return any.forward(ctx, batch_of(0, 8)).loss.value().item();
  };
  EXPECT_EQ(loss_of(same), loss_of(model));
  const std::string sentence = error_of([&] { wider.load_weights(folder_ / "saved"); });
  EXPECT_TRUE(contains(sentence, "do not fit this model: words.weight has shape (12, 16), but (12, 32) is needed"));
  EXPECT_FALSE(wider.parameters().is_allocated());

  class Larger final : public nn::Model {
   public:
    Larger() : words_(root() / "words", kWords, 16), extra_(root() / "extra", 16, 2) {}
    nn::ModelOutput forward(ops::Context&, const BatchPtr&) override { return {}; }

   private:
    nn::Embedding words_;
    nn::Linear extra_;
  } larger;
  EXPECT_TRUE(contains(error_of([&] { larger.load_weights(folder_ / "saved"); }),
                       "do not fit this model: missing extra.weight, extra.bias"));
}

TEST_F(OwnModels, TakeMemoryOnceAndInitialValuesAnyTime) {
  OwnModel model;
  EXPECT_TRUE(contains(error_of([&] { model.save_pretrained(folder_ / "none"); }), "no memory yet"));
  model.initialise(1);
  const Tensor first = model.parameters().master().clone();
  const void* const memory = model.parameters().master().raw();
  train(model, 1);
  model.initialise(1);
  EXPECT_EQ(model.parameters().master().raw(), memory);
  EXPECT_EQ(std::memcmp(memory, first.raw(), first.bytes()), 0);
}

TEST_F(OwnModels, CountTheFlopsOfTheirWeights) {
  OwnModel model;
  const BatchPtr batch = batch_of(0, 2);  // 10 positions
  double weights = 0;
  for (const auto& parameter : model.parameters().parameters())
    if (!parameter->is_embedding) weights += static_cast<double>(parameter->shape.size());
  EXPECT_EQ(model.training_flops(*batch), 6 * weights * 10);
  // Only the classifier is trained: 6 per weight of it, and 2 of all others.
  model.parameters().freeze([](std::string_view name) { return !name.starts_with("classifier"); });
  constexpr double kClassifier = 16 * kClasses + kClasses;
  EXPECT_EQ(model.training_flops(*batch), (6 * kClassifier + 2 * (weights - kClassifier)) * 10);
  OwnModel other;
  // The words are trained: backward passes all, and computes no gradient of frozen weights.
  other.parameters().freeze([](std::string_view name) { return !name.starts_with("words"); });
  EXPECT_EQ(other.training_flops(*batch), 4 * weights * 10);
}

TEST_F(OwnModels, NameWhatIsFrozenInBackward) {
  OwnModel model;
  model.parameters().freeze([](std::string_view) { return true; });
  model.initialise(1);
  Tape tape;
  ops::Context ctx;
  ctx.tape = &tape;
  const Var loss = model.forward(ctx, batch_of(0, 2)).loss;
  EXPECT_TRUE(contains(error_of([&] { loss.backward(); }), "from frozen parameters alone"));
  EXPECT_TRUE(contains(error_of([&] { tape.backward(loss, 1); }), "no tape recorded this value"));
}

TEST_F(OwnModels, SayWhenTheyHaveNoWeights) {
  OwnModel model;
  ops::Context ctx;
  EXPECT_TRUE(contains(error_of([&] { model.forward(ctx, batch_of(0, 2)); }), "words.weight has no memory yet"));
}

// Two models in one loss: the gradient of the second would be written past the end of the first one's arena.
TEST_F(OwnModels, AreToldApartInOneLoss) {
  OwnModel model, teacher;
  model.initialise(1);
  teacher.initialise(2);
  Tape tape;
  ops::Context ctx;
  ctx.tape = &tape;
  const Var own = model.forward(ctx, batch_of(0, 2)).loss;
  tape.check_belongs(model.parameters());
  const Var others = teacher.forward(ctx, batch_of(0, 2)).loss;
  EXPECT_TRUE(contains(error_of([&] { tape.check_belongs(model.parameters()); }), "a parameter of another model"));
}

TEST_F(OwnModels, RefuseSequencesThatDoNotFit) {
  OwnModel model;
  model.initialise(1);
  const auto sentence = [&](const std::vector<std::int32_t>& ids) {
    const std::vector<std::int32_t> types(ids.size());
    Batch batch;
    batch.append(ids, types, 0);
    ops::Context ctx;
    return error_of([&] { model.forward(ctx, shared_batch(batch)); });
  };
  EXPECT_EQ(sentence({1, 2, 12}), "[embedding_sum] id 12 is out of range for words.weight, which has 12 rows");
  EXPECT_EQ(sentence(std::vector<std::int32_t>(9, 1)),
            "[embedding_sum] id 8 is out of range for positions.weight, which has 8 rows");
}

TEST_F(OwnModels, RefuseLayersThatCannotBe) {
  nn::ModelBuilder builder;
  const auto layer = [&](const nn::TransformerConfig& config) {
    return error_of([&] { nn::TransformerEncoderLayer(nn::ParameterScope(builder), config); });
  };
  EXPECT_TRUE(contains(layer({.hidden = 16, .heads = 3, .intermediate = 8}), "16 is not a multiple of"));
  EXPECT_TRUE(contains(layer({.hidden = 16, .heads = 0, .intermediate = 8}), "16 is not a multiple of"));
  EXPECT_TRUE(contains(layer({.hidden = 16, .heads = 2, .intermediate = 8, .attention_dropout = 1}), "[0, 1)"));
  EXPECT_TRUE(contains(error_of([&] { nn::Dropout(nn::ParameterScope(builder), 1.5f); }), "[0, 1)"));
}

}  // namespace
}  // namespace hearth
