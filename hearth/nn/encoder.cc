#include "hearth/nn/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hearth/base/check.h"
#include "hearth/ops/attention.h"
#include "hearth/ops/gradient_checkpointing.h"

namespace hearth::nn {
namespace {

const TransformerConfig& checked(const TransformerConfig& config) {
  check(config.hidden > 0 && config.heads > 0 && config.hidden % config.heads == 0,
        "the hidden size {} is not a multiple of the number of attention heads, {}", config.hidden, config.heads);
  check(config.embedding >= 0 && config.layer_groups >= 0 && config.layers_per_group >= 1,
        "embeddings of width {} and {} groups of {} layers: no such model", config.embedding, config.layer_groups,
        config.layers_per_group);
  for (const float rate : {config.hidden_dropout, config.attention_dropout}) ops::check_dropout_rate(rate);
  return config;
}

std::optional<Embedding> type_embedding(const ParameterScope& at, const TransformerConfig& config) {
  if (config.token_types == 0) return std::nullopt;
  return Embedding(at / "embeddings.token_type_embeddings", config.token_types, config.embedding_width(), -1,
                   config.init_range);
}

std::optional<Linear> embedding_projection(const ParameterScope& at, const TransformerConfig& config,
                                           const EncoderNames& names) {
  if (config.embedding == 0) return std::nullopt;
  return Linear(at / names.embedding_projection, config.embedding, config.hidden, {.init_range = config.init_range});
}

}  // namespace

std::string layer_name(std::int64_t layer, const TransformerConfig& config, const EncoderNames& names) {
  if (config.layer_groups == 0) return fmt::format("{}.{}", names.layers, layer);
  const std::int64_t run = layer / config.layers_per_group, runs = config.layers / config.layers_per_group;
  // In floating point as in transformers, which decides where a group ends if the division leaves a rest.
  const auto group = static_cast<std::int64_t>(static_cast<double>(run) /
                                               (static_cast<double>(runs) / static_cast<double>(config.layer_groups)));
  return fmt::format("{}.{}.{}.{}", names.layers, group, names.layers_of_group, layer % config.layers_per_group);
}

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

TransformerEncoderLayer TransformerEncoderLayer::again(const ParameterScope& at) const {
  TransformerEncoderLayer layer = *this;
  for (std::uint32_t* site : {&layer.attention_site_, &layer.attention_output_site_, &layer.output_site_})
    *site = at.dropout_site();
  return layer;
}

// The outputs of all attention heads (T, H). Unless backward reads them, queries, keys and values are freed here.
Var TransformerEncoderLayer::heads(ops::Context& ctx, const Var& x) const {
  const Var qkv = ops::linear(ctx, x, *qkv_weight_, qkv_bias_);  // (T, 3 H)
  return ops::attention(ctx, qkv, config_.heads, config_.attention_dropout, attention_site_);
}

Var TransformerEncoderLayer::operator()(ops::Context& ctx, const Var& x) const {
  Var projected = attention_output_(ctx, heads(ctx, x));  // (T, H)
  const float attention_dropout = config_.attention_output_dropout ? config_.hidden_dropout : 0;
  const Var attended = attention_norm_(ctx, std::move(projected), x, attention_dropout, attention_output_site_);
  Var transformed = ops::feed_forward(ctx, attended, intermediate_.parameters(), config_.activation,
                                      output_.parameters());  // (T, H)
  const float ffn_dropout = config_.ffn_output_dropout ? config_.hidden_dropout : 0;
  return output_norm_(ctx, std::move(transformed), attended, ffn_dropout, output_site_);
}

Encoder::Encoder(const ParameterScope& at, const TransformerConfig& config, const EncoderNames& names)
    : config_(checked(config)),
      word_(at / "embeddings.word_embeddings", config.vocab_size, config.embedding_width(), config.padding_id,
            config.init_range),
      position_(at / "embeddings.position_embeddings", config.positions, config.embedding_width(),
                config.positions_follow_padding ? config.padding_id : -1, config.init_range),
      type_(type_embedding(at, config)),
      norm_(at / "embeddings.LayerNorm", config.embedding_width(), config.eps),
      dropout_(at, config.hidden_dropout),
      projection_(embedding_projection(at, config, names)) {
  layers_.reserve(static_cast<std::size_t>(config.layers));
  std::map<std::string, std::size_t> first_runs;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = layer_name(layer, config, names);
    const auto [first, is_new] = first_runs.try_emplace(name, layers_.size());
    layers_.push_back(is_new ? TransformerEncoderLayer(at / name, config, names) : layers_[first->second].again(at));
  }
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

Var Encoder::embed(ops::Context& ctx, const Batch& batch) const {
  std::vector<ops::Lookup> lookups{word_.lookup(batch.input_ids), position_.lookup(position_ids(batch))};
  if (type_) lookups.push_back(type_->lookup(batch.token_type_ids));
  const Var embedded = ops::embedding_sum(ctx, std::move(lookups));  // (T, E)
  const Var normed = norm_(ctx, embedded);
  const Var dropped = dropout_(ctx, normed);
  return projection_ ? (*projection_)(ctx, dropped) : dropped;
}

Var Encoder::operator()(ops::Context& ctx, const Batch& batch) const {
  Var x = embed(ctx, batch);
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
  return word_.weight().trainable || position_.weight().trainable || (type_ && type_->weight().trainable) ||
         (projection_ && projection_->trains());
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
  double flops = (reaches ? 6 : 2) * tokens * static_cast<double>(config_.embedding) * hidden;
  for (const TransformerEncoderLayer& layer : layers_) {
    reaches = reaches || layer.trains();
    flops += matmuls * (1 + (reaches ? 1 : 0) + (layer.trains() ? 1 : 0)) + attention * (reaches ? 3 : 1);
  }
  return flops;
}

}  // namespace hearth::nn
