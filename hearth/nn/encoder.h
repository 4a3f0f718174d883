#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/nn/layers.h"
#include "hearth/tensor/batch.h"

namespace hearth::nn {

// A BERT-like encoder. Model families differ in these numbers and in the names of their parameters. A layer of one's
// own needs hidden, heads and intermediate alone.
struct TransformerConfig {
  std::int64_t vocab_size = 0, hidden = 0, layers = 0, heads = 0, intermediate = 0, positions = 0, token_types = 0;
  float eps = 1e-12f, init_range = 0.02f;
  kernels::Activation activation = kernels::Activation::gelu;
  float hidden_dropout = 0, attention_dropout = 0;
  bool attention_output_dropout = true;  // false for DistilBERT
  bool ffn_output_dropout = true;        // false for ALBERT
  std::int32_t padding_id = 0;
  // RoBERTa counts positions from padding_id + 1, real tokens only; padding has the position padding_id.
  bool positions_follow_padding = false;

  // Embeddings of this width, which a linear layer maps to the hidden size; 0: they have the hidden size already.
  std::int64_t embedding = 0;
  std::int64_t embedding_width() const { return embedding > 0 ? embedding : hidden; }

  // ALBERT: there are `layer_groups` groups of `layers_per_group` layers with parameters of their own. The model runs
  // the first group several times, then the second, and so on; `layers` counts these runs. 0: no layers are shared.
  std::int64_t layer_groups = 0, layers_per_group = 1;

  // Tokens of the longest sequence that the model reads.
  std::int64_t max_tokens() const { return positions - (positions_follow_padding ? padding_id + 1 : 0); }
};

struct EncoderNames {
  std::string_view layers, query, key, value, attention_output, attention_norm, intermediate, output, output_norm;
  std::string_view embedding_projection = {};  // the linear layer behind embeddings that are not as wide as the layers
  std::string_view layers_of_group = {};       // where layers come in groups
};

// "encoder.layer.3". Layers with the same name are one layer that runs several times.
HEARTH_API std::string layer_name(std::int64_t layer, const TransformerConfig& config, const EncoderNames& names);

inline constexpr EncoderNames kBertNames{"encoder.layer",        "attention.self.query",   "attention.self.key",
                                         "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
                                         "intermediate.dense",   "output.dense",           "output.LayerNorm"};

// Self-attention and two linear layers, each with dropout, residual and layer norm behind it, as in BERT.
class HEARTH_API TransformerEncoderLayer {
 public:
  TransformerEncoderLayer(const ParameterScope& at, const TransformerConfig& config,
                          const EncoderNames& names = kBertNames);
  Var operator()(ops::Context& ctx, const Var& x) const;  // (T, H) -> (T, H)
  // The same parameters at another depth of a model, where dropout draws other elements.
  TransformerEncoderLayer again(const ParameterScope& at) const;
  bool trains() const { return qkv_weight_->trainable || intermediate_.trains() || output_.trains(); }

 private:
  Var heads(ops::Context& ctx, const Var& x) const;

  TransformerConfig config_;
  Parameter *qkv_weight_, *qkv_bias_;  // (3 H, H), (3 H)
  Linear attention_output_;
  LayerNorm attention_norm_;
  Linear intermediate_, output_;
  LayerNorm output_norm_;
  std::uint32_t attention_site_, attention_output_site_, output_site_;
};

// Embeddings of words, positions and token types, and a stack of layers, some of which may share their parameters.
class HEARTH_API Encoder {
 public:
  Encoder(const ParameterScope& at, const TransformerConfig& config, const EncoderNames& names = kBertNames);

  Var operator()(ops::Context& ctx, const Batch& batch) const;  // (T, H)
  const TransformerConfig& config() const { return config_; }
  // FLOPs of a forward and backward pass: 6 per token and weight of each layer that runs, plus the matmuls of
  // attention. Frozen layers need 4, and 2 where no trainable parameter lies below them.
  double training_flops(const Batch& batch) const;
  // Layers from the lowest one with a trainable parameter, or with one below it, to the last.
  std::int64_t layers_in_backward() const;
  Parameter& word_embeddings() const { return word_.weight(); }

 private:
  std::vector<std::int32_t> position_ids(const Batch& batch) const;
  Var embed(ops::Context& ctx, const Batch& batch) const;  // (T, H)
  bool trains_embeddings() const;

  TransformerConfig config_;
  Embedding word_, position_;
  std::optional<Embedding> type_;
  LayerNorm norm_;
  Dropout dropout_;
  std::optional<Linear> projection_;             // of embeddings that are not as wide as the layers
  std::vector<TransformerEncoderLayer> layers_;  // in the order in which they run
};

}  // namespace hearth::nn
