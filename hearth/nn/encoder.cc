#include "hearth/nn/encoder.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/ops/attention.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/gradient_checkpointing.h"

namespace hearth::nn {

EncoderLayer::EncoderLayer(const ParameterScope& at, const TransformerConfig& config, const EncoderNames& names)
    : config_(config),
      qkv_weight_(&at.stacked({names.query, names.key, names.value}, "weight", {config.hidden, config.hidden},
                              Init::normal(config.init_range))),
      qkv_bias_(&at.stacked({names.query, names.key, names.value}, "bias", {config.hidden}, Init::zeros())),
      attention_output_(at / names.attention_output, config.hidden, config.hidden, config.init_range),
      attention_norm_(at / names.attention_norm, config.hidden, config.eps),
      intermediate_(at / names.intermediate, config.hidden, config.intermediate, config.init_range),
      output_(at / names.output, config.intermediate, config.hidden, config.init_range),
      output_norm_(at / names.output_norm, config.hidden, config.eps),
      attention_site_(at.dropout_site()),
      attention_output_site_(at.dropout_site()),
      output_site_(at.dropout_site()) {}

Var EncoderLayer::operator()(ops::Context& ctx, const Var& x) const {
  const Var qkv = ops::linear(ctx, x, *qkv_weight_, qkv_bias_);                                           // (T, 3 H)
  const Var mixed = ops::attention(ctx, qkv, config_.heads, config_.attention_dropout, attention_site_);  // (T, H)
  const Var projected = attention_output_(ctx, mixed);                                                    // (T, H)
  const float dropout = config_.attention_output_dropout ? config_.hidden_dropout : 0;
  const Var attended = attention_norm_(ctx, projected, x, dropout, attention_output_site_);  // (T, H)
  const Var widened = intermediate_(ctx, attended, config_.activation);                      // (T, I)
  const Var narrowed = output_(ctx, widened);                                                // (T, H)
  return output_norm_(ctx, narrowed, attended, config_.hidden_dropout, output_site_);
}

Encoder::Encoder(const ParameterScope& at, const TransformerConfig& config, const EncoderNames& names)
    : config_(config),
      word_(&(at / "embeddings.word_embeddings")
                 .parameter("weight", {config.vocab_size, config.hidden}, Init::normal(config.init_range))),
      position_(&(at / "embeddings.position_embeddings")
                     .parameter("weight", {config.positions, config.hidden}, Init::normal(config.init_range))),
      type_(config.token_types == 0
                ? nullptr
                : &(at / "embeddings.token_type_embeddings")
                       .parameter("weight", {config.token_types, config.hidden}, Init::normal(config.init_range))),
      norm_(at / "embeddings.LayerNorm", config.hidden, config.eps),
      dropout_site_(at.dropout_site()) {
  check(config.hidden % config.heads == 0, "the hidden size {} is not a multiple of the number of attention heads, {}",
        config.hidden, config.heads);
  for (Parameter* table : {word_, position_, type_})
    if (table != nullptr) table->is_embedding = true;
  layers_.reserve(static_cast<std::size_t>(config.layers));
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(at / names.layers / std::to_string(layer), config, names);
}

std::vector<std::int32_t> Encoder::position_ids(const Batch& batch) const {
  std::vector<std::int32_t> positions(batch.input_ids.size());
  for (std::size_t s = 0; s < batch.key_counts.size(); ++s) {
    std::int32_t next = config_.positions_follow_padding ? config_.padding_id + 1 : 0;
    for (auto token = static_cast<std::size_t>(batch.starts[s]); token < static_cast<std::size_t>(batch.starts[s + 1]);
         ++token) {
      const bool skipped = config_.positions_follow_padding && batch.input_ids[token] == config_.padding_id;
      positions[token] = skipped ? config_.padding_id : next++;
    }
  }
  return positions;
}

Var Encoder::operator()(ops::Context& ctx, const Batch& batch) const {
  std::vector<ops::Lookup> lookups{
      {word_, batch.input_ids, config_.padding_id},
      {position_, position_ids(batch), config_.positions_follow_padding ? config_.padding_id : -1}};
  if (type_ != nullptr) lookups.push_back({type_, batch.token_type_ids, -1});
  const Var embedded = ops::embedding_sum(ctx, std::move(lookups));  // (T, H)
  const Var normed = norm_(ctx, embedded);
  Var x = ops::dropout(ctx, normed, config_.hidden_dropout, dropout_site_);
  for (const EncoderLayer& layer : layers_) {
    if (ctx.gradient_checkpointing && ctx.tape != nullptr) {
      x = ops::checkpointed(ctx, x, [&layer](ops::Context& inner, const Var& input) { return layer(inner, input); });
    } else {
      x = layer(ctx, x);
    }
  }
  return x;
}

bool Encoder::trains_embeddings() const {
  return word_->trainable || position_->trainable || (type_ != nullptr && type_->trainable);
}

std::int64_t Encoder::layers_in_backward() const {
  if (trains_embeddings()) return config_.layers;
  return std::ranges::end(layers_) - std::ranges::find_if(layers_, &EncoderLayer::trains);
}

double Encoder::training_flops(const Batch& batch) const {
  const double hidden = static_cast<double>(config_.hidden), tokens = static_cast<double>(batch.tokens());
  const double weights = 4 * hidden * hidden + 2 * hidden * static_cast<double>(config_.intermediate);  // of a layer
  double scores = 0;  // elements of the attention matrices of a head
  for (std::size_t s = 0; s < batch.key_counts.size(); ++s)
    scores += static_cast<double>((batch.starts[s + 1] - batch.starts[s]) * batch.key_counts[s]);
  const double matmuls = 2 * weights * tokens, attention = 4 * hidden * scores;  // of a forward pass
  bool reaches = trains_embeddings();                                            // backward does
  double flops = 0;
  for (const EncoderLayer& layer : layers_) {
    reaches = reaches || layer.trains();
    flops += matmuls * (1 + (reaches ? 1 : 0) + (layer.trains() ? 1 : 0)) + attention * (reaches ? 3 : 1);
  }
  return flops;
}

}  // namespace hearth::nn
