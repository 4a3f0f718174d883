#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hearth/cpu/parallel.h"
#include "tests/models/model_folder.h"

namespace hearth::models {
namespace {

// On one thread: the models are so small that many would only wait for each other.
class Models : public testing::Test {
 protected:
  Models() { cpu::set_num_threads(1); }
  ~Models() override { cpu::set_num_threads(0); }
};

struct Built {
  std::string golden;
  HeadKind head;
};

const std::vector<Built> kModels = {{"bert-qa", HeadKind::question_answering},
                                    {"bert-qa", HeadKind::sequence_classification},
                                    {"bert-qa", HeadKind::masked_lm},
                                    {"distilbert-qa", HeadKind::question_answering},
                                    {"distilbert-qa", HeadKind::sequence_classification},
                                    {"roberta-cls", HeadKind::question_answering},
                                    {"roberta-cls", HeadKind::sequence_classification},
                                    {"bert-qa", HeadKind::token_classification},
                                    {"distilbert-qa", HeadKind::token_classification},
                                    {"roberta-cls", HeadKind::token_classification}};

std::unique_ptr<Pretrained> build(const Built& built, const std::string& overrides = "") {
  Config config = Config::read(golden(built.golden));
  config.override_fields(overrides, std::array<std::string_view, 1>{"num_labels"});
  return build_model(std::move(config), built.head, 42);
}

Batch small_batch(HeadKind head) {
  Batch batch;
  for (std::uint32_t s = 0; s < 3; ++s) {
    std::vector<std::int32_t> ids;
    for (std::uint32_t i = 0; i < 10 + 9 * s; ++i)
      ids.push_back(static_cast<std::int32_t>(3 + (s * 77 + i * 13) % 900));
    batch.append(ids, std::vector<std::int32_t>(ids.size()), s);
  }
  if (head == HeadKind::question_answering) {
    batch.labels = {{"start_positions", {1, 5, 0}}, {"end_positions", {3, 7, 0}}};
  } else if (head == HeadKind::sequence_classification) {
    batch.labels = {{"labels", {1, 0, 1}}};
  } else {
    const std::int64_t classes = head == HeadKind::masked_lm ? 997 : 2;
    std::vector<std::int64_t>& labels = batch.labels["labels"];
    for (std::int64_t t = 0; t < batch.tokens(); ++t)
      labels.push_back(t % 7 == 0 ? batch.input_ids[t] % classes : -100);
  }
  return batch;
}

struct Step {
  std::vector<float> logits, grads;
  float loss = 0;
  std::vector<std::int64_t> ready;  // offsets
  bool operator==(const Step&) const = default;
};

// `ctx` holds the options of the pass.
Step train(Pretrained& model, const Batch& batch, ops::Context ctx = {}) {
  Tape tape;
  ctx.tape = &tape;
  ctx.training = true;
  ctx.seed = 1;
  model.parameters().zero_grad();
  const nn::ModelOutput output = model.forward(ctx, batch);
  Step step;
  step.loss = output.loss.value().item();
  for (const auto& [name, logits] : output.logits)
    step.logits.insert(step.logits.end(), logits.value().data<float>(),
                       logits.value().data<float>() + logits.value().size());
  tape.backward(output.loss, 1, [&](Parameter& parameter) { step.ready.push_back(parameter.offset); });
  model.parameters().complete_grads();
  const Tensor& grads = model.parameters().grad();
  step.grads.assign(grads.data<float>(), grads.data<float>() + grads.size());
  return step;
}

std::string describe(const Built& built) { return built.golden + " for " + std::string(name_of(built.head)); }

TEST_F(Models, ReportGradientsFromTheArenasBeginningToItsEnd) {
  for (const Built& built : kModels) {
    const auto model = build(built);
    const Step step = train(*model, small_batch(built.head));
    EXPECT_EQ(step.ready.size(), model->parameters().parameters().size()) << describe(built);
    EXPECT_TRUE(std::ranges::is_sorted(step.ready)) << describe(built);
  }
}

TEST_F(Models, StartNearTheLossOfAGuess) {
  for (const Built& built : kModels) {
    const auto model = build(built);
    const float loss = train(*model, small_batch(built.head)).loss;
    const double guess = built.head == HeadKind::masked_lm            ? std::log(997.0)
                         : built.head == HeadKind::question_answering ? std::log(10.0 * 19 * 28) / 3
                                                                      : std::log(2.0);
    EXPECT_NEAR(loss, guess, 0.1 * guess) << describe(built);
  }
}

TEST_F(Models, DoNotDependOnThreads) {
  for (const Built& built : {kModels[0], kModels[2], kModels[6]}) {
    const auto model = build(built);
    const Batch batch = small_batch(built.head);
    const Step expected = train(*model, batch);
    for (const int threads : {2, 8, 16}) {
      cpu::set_num_threads(threads);
      EXPECT_TRUE(train(*model, batch) == expected) << describe(built) << " with " << threads << " threads";
    }
    cpu::set_num_threads(1);
  }
}

TEST_F(Models, GiveTheSameBitsWithGradientCheckpointing) {
  for (const Built& built : kModels) {
    const std::string overrides = built.golden == "distilbert-qa"
                                      ? "dropout=0.1,attention_dropout=0.1,qa_dropout=0.1"
                                      : "hidden_dropout_prob=0.1,attention_probs_dropout_prob=0.1";
    const auto model = build(built, overrides);
    const Batch batch = small_batch(built.head);
    const Step expected = train(*model, batch);
    EXPECT_TRUE(train(*model, batch, {.gradient_checkpointing = true}) == expected) << describe(built);
    EXPECT_FALSE(train(*build(built), batch).loss == expected.loss) << "no dropout in " << describe(built);
  }
}

TEST_F(Models, LearnInNarrowFormatsWhatTheyLearnInF32) {
  for (const Built& built : kModels) {
    const auto model = build(built);
    const Batch batch = small_batch(built.head);
    const Step expected = train(*model, batch);
    double norm = 0;
    for (const float grad : expected.grads) norm += double{grad} * grad;
    for (const auto& [type, band] : {std::pair{DType::bf16, 0.05}, {DType::f16, 0.01}}) {
      const Step step = train(*model, batch, {.compute = type});
      EXPECT_NEAR(step.loss, expected.loss, 0.1 * band * expected.loss) << describe(built);
      double difference = 0;
      for (std::size_t i = 0; i < step.grads.size(); ++i)
        difference += std::pow(double{step.grads[i]} - expected.grads[i], 2);
      EXPECT_LE(std::sqrt(difference / norm), band) << describe(built) << " in " << name_of(type);
    }
  }
}

TEST_F(Models, SmoothLabels) {
  const Built built{"bert-qa", HeadKind::sequence_classification};
  const auto model = build(built);
  const Batch batch = small_batch(built.head);
  const Step plain = train(*model, batch);
  const Step smooth = train(*model, batch, {.label_smoothing = 0.2f});
  double expected = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    const double a = plain.logits[2 * row], b = plain.logits[2 * row + 1];
    const double total = std::log(std::exp(a) + std::exp(b));
    expected += (0.8 * (total - (batch.labels.at("labels")[row] == 0 ? a : b)) + 0.2 * (total - (a + b) / 2)) / 3;
  }
  EXPECT_NEAR(smooth.loss, expected, 1e-6);
}

TEST_F(Models, HaveNoLossWithoutLabels) {
  for (const Built& built : kModels) {
    Batch batch = small_batch(built.head);
    batch.labels.clear();
    ops::Context ctx;
    const nn::ModelOutput output = build(built)->forward(ctx, batch);
    EXPECT_FALSE(output.loss.defined());
    EXPECT_EQ(output.logits.size(), built.head == HeadKind::question_answering ? 2u : 1u);
  }
}

TEST_F(Models, RefuseToTrainARegression) {
  const Built built{"roberta-cls", HeadKind::sequence_classification};
  const auto model = build(built, "num_labels=1");
  Batch batch = small_batch(built.head);
  EXPECT_THROW(train(*model, batch), Error);
  batch.labels.clear();
  ops::Context ctx;
  EXPECT_EQ(model->forward(ctx, batch).logits.front().second.value().shape(), (Shape{3, 1}));
}

TEST_F(Models, KnowTheLongestSequenceTheyRead) {
  EXPECT_EQ(build(kModels[0])->max_positions(), 96);
  EXPECT_EQ(build({"roberta-cls", HeadKind::question_answering})->max_positions(), 96);  // of 98
}

TEST_F(Models, StartFromTheSeedAlone) {
  for (const Built& built : kModels) expect_same_weights(weights_of(*build(built)), weights_of(*build(built)));
  const auto other = build_model(Config::read(golden("bert-qa")), HeadKind::question_answering, 43);
  EXPECT_FALSE(
      same_bits(weights_of(*other).at("qa_outputs.weight"), weights_of(*build(kModels[0])).at("qa_outputs.weight")));
}

TEST_F(Models, MaskedLanguageModelsTieTheirWeights) {
  const auto model = build({"bert-qa", HeadKind::masked_lm});
  const Weights weights = weights_of(*model);
  EXPECT_FALSE(weights.contains("cls.predictions.decoder.weight"));
  EXPECT_EQ(weights.at("cls.predictions.bias").shape(), (Shape{997}));
  const Batch batch = small_batch(HeadKind::masked_lm);
  train(*model, batch);
  const auto& parameters = model->parameters().parameters();
  const Parameter& words = **std::ranges::find_if(parameters, [](const auto& parameter) {
    return parameter->parts.front().name == "bert.embeddings.word_embeddings.weight";
  });
  // A word that is nowhere in the batch still learns that it is no answer.
  const std::int32_t absent = 2;
  ASSERT_EQ(std::ranges::count(batch.input_ids, absent), 0);
  const float* row = words.grad.data<float>() + absent * words.grad.row_size();
  EXPECT_TRUE(std::any_of(row, row + words.grad.row_size(), [](float g) { return g != 0; }));
}

}  // namespace
}  // namespace hearth::models
