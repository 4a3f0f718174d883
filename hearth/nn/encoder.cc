#include "hearth/nn/encoder.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/ops/attention.h"
#include "hearth/ops/gradient_checkpointing.h"

namespace hearth::nn {
namespace {

const TransformerConfig& checked(const TransformerConfig& config) {
  check(config.hidden > 0 && config.heads > 0 && config.hidden % config.heads == 0,
        "the hidden size {} is not a multiple of the number of attention heads, {}", config.hidden, config.heads);
  for (const float rate : {config.hidden_dropout, config.attention_dropout}) ops::check_dropout_rate(rate);
  return config;
}

std::optional<Embedding> type_embedding(const ParameterScope& at, const TransformerConfig& config) {
  if (config.token_types == 0) return std::nullopt;
  return Embedding(at / "embeddings.token_type_embeddings", config.token_types, config.hidden, -1, config.init_range);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const ParameterScope& at, const TransformerConfig& config,
                                                 const EncoderNames& names)
    : config_(checked(config)),
      qkv_weight_(&at.stacked({names.query, names.key, names.value}, "weight", {config.hidden, config.hidden},
                              Init::normal(config.init_range))),
      qkv_bias_(&at.stacked({names.query, names.key, names.value}, "bias", {config.hidden}, Init::zeros())),
      attention_output_(at / names.attention_output, config.hidden, config.hidden, {.init_range = config.init_range}),
      attention_norm_(at / names.attention_norm, config.hidden, config.eps),
      intermediate_(at / names.intermediate, config.hidden, config.intermediate, {.init_range = config.init_range}),
      output_(at / names.output, config.intermediate, config.hidden, {.init_range = config.init_range}),
      output_norm_(at / names.output_norm, config.hidden, config.eps),
      attention_site_(at.dropout_site()),
      attention_output_site_(at.dropout_site()),
      output_site_(at.dropout_site()) {}

Var TransformerEncoderLayer::operator()(ops::Context& ctx, const Var& x) const {
  const Var qkv = ops::linear(ctx, x, *qkv_weight_, qkv_bias_);                                           // (T, 3 H)
  const Var mixed = ops::attention(ctx, qkv, config_.heads, config_.attention_dropout, attention_site_);  // (T, H)
  Var projected = attention_output_(ctx, mixed);                                                          // (T, H)
  const float dropout = config_.attention_output_dropout ? config_.hidden_dropout : 0;
  const Var attended = attention_norm_(ctx, std::move(projected), x, dropout, attention_output_site_);  // (T, H)
  const Var widened = intermediate_(ctx, attended, config_.activation);                                 // (T, I)
  Var narrowed = output_(ctx, widened);                                                                 // (T, H)
  return output_norm_(ctx, std::move(narrowed), attended, config_.hidden_dropout, output_site_);
}

Encoder::Encoder(const ParameterScope& at, const TransformerConfig& config, const EncoderNames& names)
    : config_(checked(config)),
      word_(at / "embeddings.word_embeddings", config.vocab_size, config.hidden, config.padding_id, config.init_range),
      position_(at / "embeddings.position_embeddings", config.positions, config.hidden,
                config.positions_follow_padding ? config.padding_id : -1, config.init_range),
      type_(type_embedding(at, config)),
      norm_(at / "embeddings.LayerNorm", config.hidden, config.eps),
      dropout_(at, config.hidden_dropout) {
  layers_.reserve(static_cast<std::size_t>(config.layers));
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(at / names.layers / std::to_string(layer), config, names);
}

std::vector<std::int32_t> Encoder::position_ids(const Batch& batch) const {
  std::vector<std::int32_t> positions = batch.position_ids();
  if (!config_.positions_follow_padding) return positions;
  std::int32_t next = 0;
  for (std::size_t token = 0; token < positions.size(); ++token) {
    if (positions[token] == 0) next = config_.padding_id + 1;
    positions[token] = batch.input_ids[token] == config_.padding_id ? config_.padding_id : next++;
  }
  return positions;
}

Var Encoder::operator()(ops::Context& ctx, const Batch& batch) const {
  std::vector<ops::Lookup> lookups{word_.lookup(batch.input_ids), position_.lookup(position_ids(batch))};
  if (type_) lookups.push_back(type_->lookup(batch.token_type_ids));
  const Var embedded = ops::embedding_sum(ctx, std::move(lookups));  // (T, H)
  const Var normed = norm_(ctx, embedded);
  Var x = dropout_(ctx, normed);
  for (const TransformerEncoderLayer& layer : layers_) {
    if (ctx.gradient_checkpointing && ctx.tape != nullptr) {
      x = ops::checkpointed(ctx, x, [&layer](ops::Context& inner, const Var& input) { return layer(inner, input); });
    } else {
      x = layer(ctx, x);
    }
  }
  return x;
}

bool Encoder::trains_embeddings() const {
  return word_.weight().trainable || position_.weight().trainable || (type_ && type_->weight().trainable);
}

std::int64_t Encoder::layers_in_backward() const {
  if (trains_embeddings()) return config_.layers;
  return std::ranges::end(layers_) - std::ranges::find_if(layers_, &TransformerEncoderLayer::trains);
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
  for (const TransformerEncoderLayer& layer : layers_) {
    reaches = reaches || layer.trains();
    flops += matmuls * (1 + (reaches ? 1 : 0) + (layer.trains() ? 1 : 0)) + attention * (reaches ? 3 : 1);
  }
  return flops;
}

}  // namespace hearth::nn
