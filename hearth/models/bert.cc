#include "hearth/models/families.h"
#include "hearth/models/heads.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/rows.h"

namespace hearth::models {
namespace {

class BertModel : public Pretrained {
 public:
  BertModel(Config config, std::string architecture)
      : Pretrained(std::move(config), "bert.", std::move(architecture)),
        root_(blueprint_),
        encoder_(root_ / "bert", bert_encoder_config(config_), bert_encoder_names()) {}

  nn::Encoder& encoder() override { return encoder_; }
  const nn::Encoder& encoder() const override { return encoder_; }

 protected:
  nn::Cursor root_;
  nn::Encoder encoder_;
};

class BertForQuestionAnswering final : public BertModel {
 public:
  explicit BertForQuestionAnswering(Config config)
      : BertModel(std::move(config), "BertForQuestionAnswering"), head_(root_, encoder_.config(), 0) {}

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    return head_(ctx, batch, hidden);
  }

  SpanHead head_;
};

class BertForSequenceClassification final : public BertModel {
 public:
  explicit BertForSequenceClassification(Config config)
      : BertModel(std::move(config), "BertForSequenceClassification"),
        pooler_(root_ / "bert.pooler.dense", encoder_.config().hidden, encoder_.config().hidden,
                encoder_.config().init_range),
        classifier_(root_ / "classifier", encoder_.config().hidden, config_.num_labels(), encoder_.config().init_range),
        dropout_(config_.rate_or("classifier_dropout", encoder_.config().hidden_dropout)),
        site_(root_.dropout_site()) {
    config_.require("problem_type", "single_label_classification");
  }

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    const Var first = ops::first_tokens(ctx, hidden);  // (S, H)
    ctx.sequences = nn::sequence_rows_of(batch);
    const Var pooled = pooler_(ctx, first, kernels::Activation::tanh);
    const Var kept = ops::dropout(ctx, pooled, dropout_, site_);
    return classify(ctx, batch, classifier_.logits(ctx, kept), label_smoothing_);
  }

  nn::Linear pooler_, classifier_;
  float dropout_;
  std::uint32_t site_;
};

class BertForMaskedLM final : public BertModel {
 public:
  explicit BertForMaskedLM(Config config)
      : BertModel(std::move(config), "BertForMaskedLM"),
        transform_(root_ / "cls.predictions.transform.dense", encoder_.config().hidden, encoder_.config().hidden,
                   encoder_.config().init_range),
        norm_(root_ / "cls.predictions.transform.LayerNorm", encoder_.config().hidden, encoder_.config().eps),
        bias_(&(root_ / "cls.predictions").parameter("bias", {encoder_.config().vocab_size}, nn::Init::zeros())) {
    config_.require("tie_word_embeddings", true);
  }

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    const Var transformed = transform_(ctx, hidden, encoder_.config().activation);
    const Var normed = norm_(ctx, transformed);
    const Var logits = ops::linear(ctx, normed, encoder_.word_embeddings(), bias_, kernels::Activation::none,
                                   format_of(ops::Value::logit, ctx.compute));  // (T, V)
    return classify(ctx, batch, logits, label_smoothing_);
  }

  nn::Linear transform_;
  nn::LayerNorm norm_;
  Parameter* bias_;
};

}  // namespace

void check_heads(const Config& config, const nn::EncoderConfig& encoder) {
  check(encoder.hidden % encoder.heads == 0,
        "{}: the hidden size {} is not a multiple of the number of attention heads, {}", config.file(), encoder.hidden,
        encoder.heads);
}

nn::EncoderConfig bert_encoder_config(const Config& config) {
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  nn::EncoderConfig encoder;
  encoder.vocab_size = config.size("vocab_size");
  encoder.hidden = config.size("hidden_size");
  encoder.layers = config.size("num_hidden_layers", Config::kMostLayers);
  encoder.heads = config.size("num_attention_heads", Config::kMostHeads);
  encoder.intermediate = config.size("intermediate_size");
  encoder.positions = config.size("max_position_embeddings");
  encoder.token_types = config.size_or("type_vocab_size", 2);
  encoder.eps = config.number_or("layer_norm_eps", 1e-12);
  encoder.init_range = config.number_or("initializer_range", 0.02);
  encoder.activation = config.activation("hidden_act");
  encoder.hidden_dropout = config.rate_or("hidden_dropout_prob", 0.1);
  encoder.attention_dropout = config.rate_or("attention_probs_dropout_prob", 0.1);
  encoder.padding_id = config.token_id_or("pad_token_id", 0, encoder.vocab_size);
  check_heads(config, encoder);
  return encoder;
}

const nn::EncoderNames& bert_encoder_names() {
  static constexpr nn::EncoderNames names{
      "encoder.layer",        "attention.self.query",   "attention.self.key",
      "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
      "intermediate.dense",   "output.dense",           "output.LayerNorm"};
  return names;
}

std::unique_ptr<Pretrained> make_bert(Config config, Head head) {
  switch (head) {
    case Head::question_answering:
      return std::make_unique<BertForQuestionAnswering>(std::move(config));
    case Head::sequence_classification:
      return std::make_unique<BertForSequenceClassification>(std::move(config));
    case Head::masked_lm:
      return std::make_unique<BertForMaskedLM>(std::move(config));
  }
  fail("unknown head");
}

}  // namespace hearth::models
