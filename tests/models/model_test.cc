#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hearth/cpu/parallel.h"
#include "tests/models/model_folder.h"
#include "tests/models/small_models.h"

namespace hearth::models {
namespace {

// On one thread: the models are so small that many would only wait for each other.
class Models : public testing::Test {
 protected:
  Models() { cpu::set_num_threads(1); }
  ~Models() override { cpu::set_num_threads(0); }
};

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
    const auto model = build(built, "initializer_range=0.02");
    const float loss = train(*model, small_batch(built.head)).loss;
    const double guess = built.head == HeadKind::masked_lm            ? std::log(997.0)
                         : built.head == HeadKind::question_answering ? std::log(10.0 * 19 * 28) / 3
                                                                      : std::log(2.0);
    EXPECT_NEAR(loss, guess, 0.1 * guess) << describe(built);
  }
}

TEST_F(Models, DoNotDependOnThreads) {
  for (const Built& built : {kModels[0], kModels[2], kModels[6], kModels.back()}) {
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

// The tape keeps what backward reads of the batch, and the context what forward reads.
TEST_F(Models, LearnFromABatchThatTheCallerHasLetGo) {
  for (const Built& built : kModels) {
    const auto model = build(built);
    for (const bool checkpointing : {false, true}) {
      const ops::Context settings{.gradient_checkpointing = checkpointing};
      const Step expected = train(*model, small_batch(built.head), settings);
      std::weak_ptr<const Batch> seen;
      {
        Tape tape;
        ops::Context ctx = settings;
        ctx.tape = &tape;
        ctx.training = true;
        ctx.seed = 1;
        model->parameters().zero_grad();
        BatchPtr batch = shared_batch(small_batch(built.head));
        seen = batch;
        const Var loss = model->forward(ctx, batch).loss;
        batch.reset();
        EXPECT_FALSE(seen.expired()) << describe(built);
        const std::vector<BatchPtr> others(100,
                                           shared_batch(small_batch(built.head)));  // take its memory, if it is free
        tape.backward(loss, 1);
        model->parameters().complete_grads();
      }
      EXPECT_TRUE(seen.expired()) << describe(built);
      const Tensor& grads = model->parameters().grad();
      EXPECT_EQ(std::vector<float>(grads.data<float>(), grads.data<float>() + grads.size()), expected.grads)
          << describe(built);
    }
  }
}

TEST_F(Models, SmoothLabels) {
  const Built built{"bert-qa", HeadKind::sequence_classification};
  const auto model = build(built);
  const Batch batch = small_batch(built.head);
  const Step plain = train(*model, batch);
  const Step smooth = train(*model, batch, {.loss = {.label_smoothing = 0.2f}});
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
    const nn::ModelOutput output = build(built)->forward(ctx, shared_batch(batch));
    EXPECT_FALSE(output.loss.defined());
    EXPECT_EQ(output.logits.size(), built.head == HeadKind::question_answering ? 2u : 1u);
  }
}

// One label is a regression, as in transformers.
TEST_F(Models, LearnARegression) {
  const Built built{"roberta-cls", HeadKind::sequence_classification};
  const auto model = build(built, "num_labels=1");
  Batch batch = small_batch(built.head);
  ops::Context ctx;
  const nn::ModelOutput output = model->forward(ctx, shared_batch(batch));
  EXPECT_EQ(output.logits.front().second.value().shape(), (Shape{3, 1}));
  EXPECT_FALSE(output.loss.defined());  // classes are no targets of a regression
  batch.labels.clear();
  batch.float_labels = {{"labels", {0.5f, -1.0f, 2.5f}}};
  const Step step = train(*model, batch);
  double expected = 0;
  for (std::size_t row = 0; row < 3; ++row)
    expected += std::pow(double{step.logits[row]} - batch.float_labels.at("labels")[row], 2) / 3;
  EXPECT_NEAR(step.loss, expected, 1e-6);
  EXPECT_TRUE(std::ranges::any_of(step.grads, [](float grad) { return grad != 0; }));
}

// Float labels of several classes are independent of each other.
TEST_F(Models, LearnSeveralLabelsAtOnce) {
  const Built built{"bert-qa", HeadKind::sequence_classification};
  const auto model = build(built, "num_labels=4");
  Batch batch = small_batch(built.head);
  batch.labels.clear();
  batch.float_labels = {{"labels", {1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0}}};
  const Step step = train(*model, batch);
  ASSERT_EQ(step.logits.size(), 12u);
  double expected = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double x = step.logits[i];
    expected += (std::log1p(std::exp(x)) - x * batch.float_labels.at("labels")[i]) / 12;
  }
  EXPECT_NEAR(step.loss, expected, 1e-6);
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

// As nn.Embedding with a padding_idx after transformers' _init_weights.
TEST_F(Models, StartWithoutValuesForPadding) {
  for (const Built& built : kModels) {
    const auto model = build(built);
    const std::int64_t padding = model->backbone_config().padding_id,
                       width = model->backbone_config().embedding_width();
    for (const auto& [name, values] : weights_of(*model)) {
      if (name.find("_embeddings.weight") == name.npos) continue;
      const bool has_padding = name.ends_with(".word_embeddings.weight") ||
                               (model->prefix() == "roberta." && name.ends_with(".position_embeddings.weight"));
      for (std::int64_t row = 0; row < std::min<std::int64_t>(values.rows(), 3); ++row) {
        const float* const begin = values.data<float>() + row * width;
        EXPECT_EQ(std::all_of(begin, begin + width, [](float value) { return value == 0; }),
                  has_padding && row == padding)
            << name << " " << row;
      }
    }
  }
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
