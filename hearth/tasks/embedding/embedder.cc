#include "hearth/tasks/embedding/embedder.h"

#include <algorithm>
#include <numeric>

#include "hearth/base/check.h"
#include "hearth/ops/parts.h"
#include "hearth/ops/similarity.h"
#include "hearth/tasks/embedding/text_column.h"

namespace hearth::tasks {
namespace {

models::HeadSpec head_of(const models::SentenceTransformer& settings) {
  models::HeadSpec spec(models::HeadKind::embedding);
  spec.embedding.pooling = settings.pooling;
  spec.embedding.normalize = settings.normalize;
  return spec;
}

// Items, longest first, cut into batches of at most `tokens` tokens each, or of one item.
std::vector<std::vector<std::int64_t>> batches_by_length(const TokenRows& rows, std::int64_t tokens) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.rows()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::int64_t row) { return rows.length(row); });
  std::vector<std::vector<std::int64_t>> batches;
  std::int64_t taken = tokens;
  for (const std::int64_t row : order) {
    if (taken + rows.length(row) > tokens) {
      batches.emplace_back();
      taken = 0;
    }
    batches.back().push_back(row);
    taken += rows.length(row);
  }
  return batches;
}

}  // namespace

Embedder::Embedder(const std::filesystem::path& folder, const EmbedderOptions& options)
    : folder_(folder.string()),
      options_(options),
      settings_(models::read_sentence_transformer(folder)),
      tokenizer_(tokenizer::load_tokenizer(folder)),
      model_(models::load_pretrained(folder, head_of(settings_))),
      max_length_(embedding_length(options.max_seq_length, settings_, *tokenizer_, model_->max_positions())),
      similarity_(similarity_named(settings_.similarity_fn_name, folder_)) {
  if (options_.truncate_dim) settings_.truncate_dim = options_.truncate_dim;
  const std::int64_t whole = settings_.dimension(model_->backbone_config().hidden);
  check(settings_.truncate_dim.value_or(whole) <= whole, "truncate_dim {}: the embeddings of {} have {} numbers",
        settings_.truncate_dim.value_or(whole), folder_, whole);
}

std::int64_t Embedder::dimension() const {
  return settings_.truncate_dim.value_or(settings_.dimension(model_->backbone_config().hidden));
}

Tensor Embedder::embed(std::span<const std::string> texts, const std::string& prompt,
                       const std::function<void(std::int64_t done)>& progress) {
  auto features = std::make_shared<EmbeddingFeatures>();
  features->columns.push_back(text_column(texts, prompt, settings_, *tokenizer_, max_length_));
  const TokenRows& rows = features->columns.front().rows;
  const EmbeddingDataset data(features, {});
  Tensor result({std::ssize(texts), dimension()}, DType::f32);
  std::int64_t done = 0;
  for (const std::vector<std::int64_t>& items : batches_by_length(rows, options_.tokens_per_batch)) {
    ops::Context ctx;
    ctx.compute = options_.compute;
    const Tensor whole = model_->forward(ctx, data.collate(items, 0)).logits_named("sentence_embedding");
    const Var kept = ops::first_columns(ctx, Var(whole), dimension());
    const Tensor embeddings = options_.normalize ? ops::normalize_rows(ctx, kept).value() : kept.value();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      result.slice(items[i], items[i] + 1).copy_from(embeddings.slice(row, row + 1));
    }
    done += std::ssize(items);
    if (progress) progress(done);
  }
  tokens_ += rows.tokens();
  return result;
}

}  // namespace hearth::tasks
