#include "hearth/models/embedding_head.h"

#include "hearth/models/head.h"
#include "hearth/ops/parts.h"
#include "hearth/ops/similarity.h"

namespace hearth::models {
namespace {

class EmbeddingHead final : public Head {
 public:
  explicit EmbeddingHead(const EmbeddingSpec& spec) : spec_(spec) {}

  std::int64_t sequences_per_chunk() const override { return spec_.mini_batch_size; }

  Var features(ops::Context& ctx, const Var& hidden) const override {
    std::vector<Var> pooled;
    for (const ops::Pooling mode : spec_.pooling)
      pooled.push_back(ops::pool_tokens(ctx, hidden, mode, ctx.batch->prompt_tokens));
    const Var embeddings = pooled.size() == 1 ? pooled.front() : ops::concat_columns(ctx, pooled);
    return spec_.normalize ? ops::normalize_rows(ctx, embeddings) : embeddings;
  }

  nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& embeddings) const override {
    nn::ModelOutput output;
    output.logits = {{"sentence_embedding", embeddings}};
    if (batch.texts_per_item > 1) output.loss = spec_.loss(ctx, batch, embeddings);
    return output;
  }

 private:
  EmbeddingSpec spec_;
};

}  // namespace

std::unique_ptr<Head> make_embedding_head(const EmbeddingSpec& spec) { return std::make_unique<EmbeddingHead>(spec); }

}  // namespace hearth::models
