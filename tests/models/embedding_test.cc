// Embeddings against sentence-transformers: make_expected_embeddings.py writes the fixtures.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/io/json.h"
#include "hearth/models/embedding_loss.h"
#include "hearth/ops/parts.h"
#include "hearth/ops/pooling.h"
#include "tests/models/small_models.h"
#include "tests/support.h"

namespace hearth::models {
namespace {

constexpr double kTolerance = 1e-5;

io::Json cases(const char* file) { return io::read_json(fixture("embedding") / file); }

std::vector<float> floats(const io::Json& list) { return list.get<std::vector<float>>(); }

void expect_near(std::span<const float> actual, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], kTolerance * std::max(1.0f, std::abs(expected[i]))) << what << " at " << i;
}

std::span<const float> values_of(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<std::size_t>(tensor.size())};
}

EmbeddingLoss loss_of(const io::Json& each) {
  const io::Json& settings = each["settings"];
  EmbeddingLoss loss;
  loss.kind = *value_named<EmbeddingLossKind>(each["loss"].get<std::string>());
  loss.scale = settings.value("scale", 20.0f);
  loss.margin = settings.value("margin", 5.0f);
  loss.temperature = settings.value("temperature", 1.0f);
  loss.distance = *value_named<DistanceMetric>(settings.value("distance", "euclidean"));
  loss.matryoshka_dims = settings.value("dims", std::vector<std::int64_t>());
  loss.matryoshka_weights = settings.value("weights", std::vector<float>());
  return loss;
}

Batch batch_of(std::int64_t items, std::int64_t texts) {
  Batch batch;
  for (std::int64_t s = 0; s < items * texts; ++s)
    batch.append(std::vector<std::int32_t>{1}, std::vector<std::int32_t>{0}, static_cast<std::uint32_t>(s));
  batch.texts_per_item = texts;
  return batch;
}

TEST(EmbeddingLoss, IsThatOfSentenceTransformers) {
  for (const io::Json& each : cases("losses.json")) {
    const std::string what = each["loss"].get<std::string>() + " " + each["settings"].dump();
    const std::int64_t texts = each["texts"], items = each["items"], size = each["size"];
    Batch batch = batch_of(items, texts);
    batch.float_labels["labels"] = floats(each["labels"]);
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    const Var embeddings(Tensor::of(floats(each["embeddings"]), {texts * items, size}), true);
    const Var loss = loss_of(each)(ctx, batch, embeddings);
    EXPECT_NEAR(loss.value().item(), each["value"].get<double>(), kTolerance * std::abs(each["value"].get<double>()))
        << what;
    tape.backward(loss, 1);
    expect_near(values_of(embeddings.grad()), floats(each["gradient"]), what);
  }
}

TEST(EmbeddingPooling, IsThatOfSentenceTransformers) {
  for (const io::Json& each : cases("pooling.json")) {
    const std::string what = each["modes"].dump() + " " + each["prompt"].dump();
    const auto lengths = each["lengths"].get<std::vector<std::int64_t>>();
    const std::int64_t longest = std::ranges::max(lengths), size = 5;
    Batch batch;
    for (const std::int64_t length : lengths) {
      const std::vector<std::int32_t> ids(static_cast<std::size_t>(length), 1);
      batch.append(ids, ids, 0, longest);
    }
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    ctx.begin(shared_batch(batch));
    const Var tokens(Tensor::of(floats(each["tokens"]), {std::ssize(lengths) * longest, size}), true);
    const std::vector<std::int64_t> skipped(lengths.size(), each["prompt"].get<std::int64_t>());
    std::vector<Var> parts;
    for (const io::Json& mode : each["modes"])
      parts.push_back(ops::pool_tokens(ctx, tokens, *value_named<ops::Pooling>(mode.get<std::string>()), skipped));
    const Var pooled = ops::concat_columns(ctx, parts);
    expect_near(values_of(pooled.value()), floats(each["pooled"]), what);
    tape.backward_from(pooled, Tensor::of(floats(each["slope"]), pooled.value().shape()));
    expect_near(values_of(tokens.grad()), floats(each["gradient"]), what + ", gradient");
  }
}

struct Pass {
  float loss = 0;
  std::vector<float> embeddings, grads;
};

// A pass with dropout over seven pairs, `chunk` texts at a time.
Pass pass_of(std::int64_t chunk, EmbeddingLossKind kind, DType compute) {
  HeadSpec spec(HeadKind::embedding);
  spec.embedding.mini_batch_size = chunk;
  spec.embedding.loss.kind = kind;
  Config config = Config::read(golden("bert-embedding"));
  config.override_fields("hidden_dropout_prob=0.1,attention_probs_dropout_prob=0.1", {});
  const auto model = build_model(std::move(config), spec, 42);
  Batch batch;
  for (std::uint32_t s = 0; s < 14; ++s) {
    std::vector<std::int32_t> ids;
    for (std::uint32_t i = 0; i < 4 + s * 5 % 9; ++i)
      ids.push_back(static_cast<std::int32_t>(3 + (s * 77 + i * 13) % 500));
    batch.append(ids, std::vector<std::int32_t>(ids.size()), s);
  }
  batch.texts_per_item = 2;
  batch.float_labels["labels"] = {0.1f, 0.9f, 0.4f, 0.2f, 1, 0.6f, 0};
  Tape tape;
  ops::Context ctx = ops::training_context(tape, 5);
  ctx.compute = compute;
  model->parameters().zero_grad();
  const nn::ModelOutput output = model->forward(ctx, shared_batch(batch));
  Pass pass;
  pass.loss = output.loss.value().item();
  const Tensor& embeddings = output.logits_named("sentence_embedding");
  pass.embeddings.assign(values_of(embeddings).begin(), values_of(embeddings).end());
  tape.backward(output.loss, 1);
  model->parameters().complete_grads();
  for (const NamedParameter& each : model->parameters().named())
    if (each.grad.defined())
      pass.grads.insert(pass.grads.end(), values_of(each.grad).begin(), values_of(each.grad).end());
  return pass;
}

TEST(Embedding, ChunksHaveTheGradientOfTheWholeBatch) {
  for (const EmbeddingLossKind kind :
       {EmbeddingLossKind::cached_multiple_negatives_ranking, EmbeddingLossKind::cosent}) {
    const Pass whole = pass_of(0, kind, DType::f32);
    for (const std::int64_t chunk : {1, 3, 7, 14}) {
      const Pass parts = pass_of(chunk, kind, DType::f32);
      EXPECT_NEAR(parts.loss, whole.loss, 1e-6 * whole.loss) << chunk;
      expect_near(parts.embeddings, whole.embeddings, "embeddings");
      expect_near(parts.grads, whole.grads, "gradients");
    }
  }
}

TEST(Embedding, ChunksHaveTheGradientOfTheWholeBatchInBf16) {
  const Pass whole = pass_of(0, EmbeddingLossKind::multiple_negatives_ranking, DType::bf16);
  const Pass parts = pass_of(4, EmbeddingLossKind::multiple_negatives_ranking, DType::bf16);
  EXPECT_NEAR(parts.loss, whole.loss, 1e-2 * whole.loss);
  double norm = 0, error = 0;
  for (std::size_t i = 0; i < whole.grads.size(); ++i) {
    norm += double{whole.grads[i]} * whole.grads[i];
    error += std::pow(double{whole.grads[i]} - parts.grads[i], 2);
  }
  EXPECT_LT(std::sqrt(error / norm), 0.02);
}

TEST(Embedding, MemoryIsThatOfTheLargestChunk) {
  HeadSpec spec(HeadKind::embedding);
  spec.embedding.mini_batch_size = 2;
  const auto model = outline(Config::read(golden("bert-embedding")), spec);
  Batch batch;
  for (const std::size_t length : {3, 4, 9, 2, 5})
    batch.append(std::vector<std::int32_t>(length, 1), std::vector<std::int32_t>(length), 0);
  EXPECT_EQ(model->tokens_at_once(batch), 11);
  EXPECT_EQ(outline(Config::read(golden("bert-embedding")), HeadKind::embedding)->tokens_at_once(batch), 23);
}

// A bare model's names have no prefix, whatever those of the folder have, and its pooler stays as it is.
TEST(Embedding, ReadsAndWritesTheBareModel) {
  const TemporaryPlace place;
  Config config = Config::read(golden("bert-embedding"));
  const auto classifier = build_model(config, HeadKind::sequence_classification, 7);
  classifier->save_pretrained(place.path() / "classifier");
  const auto embedder = load_pretrained(place.path() / "classifier", HeadKind::embedding);
  EXPECT_EQ(embedder->architecture(), "BertModel");
  embedder->save_pretrained(place.path() / "embedder");
  const auto again = load_pretrained(place.path() / "embedder", HeadKind::sequence_classification);
  for (const NamedParameter& each : embedder->parameters().named()) {
    EXPECT_EQ(each.parameter->trainable, !each.name.starts_with("pooler.")) << each.name;
    EXPECT_FALSE(each.name.starts_with("bert."));
  }
  for (const NamedParameter& each : classifier->parameters().named()) {
    if (each.name.starts_with("classifier.")) continue;
    for (const NamedParameter& other : again->parameters().named()) {
      if (other.name != each.name) continue;
      EXPECT_TRUE(std::ranges::equal(values_of(each.value), values_of(other.value))) << each.name;
    }
  }
}

}  // namespace
}  // namespace hearth::models
