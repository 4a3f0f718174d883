#include "hearth/models/families.h"
#include "hearth/models/heads.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/rows.h"

namespace hearth::models {
namespace {

nn::EncoderConfig distilbert_encoder_config(const Config& config) {
  config.require("sinusoidal_pos_embds", false);
  nn::EncoderConfig encoder;
  encoder.vocab_size = config.size("vocab_size");
  encoder.hidden = config.size("dim");
  encoder.layers = config.size("n_layers", Config::kMostLayers);
  encoder.heads = config.size("n_heads", Config::kMostHeads);
  encoder.intermediate = config.size("hidden_dim");
  encoder.positions = config.size("max_position_embeddings");
  encoder.init_range = config.number_or("initializer_range", 0.02);
  encoder.activation = config.activation("activation");
  encoder.hidden_dropout = config.rate_or("dropout", 0.1);
  encoder.attention_dropout = config.rate_or("attention_dropout", 0.1);
  encoder.attention_output_dropout = false;
  encoder.padding_id = config.token_id_or("pad_token_id", 0, encoder.vocab_size);
  check_heads(config, encoder);
  return encoder;
}

constexpr nn::EncoderNames kNames{"transformer.layer", "attention.q_lin",   "attention.k_lin",
                                  "attention.v_lin",   "attention.out_lin", "sa_layer_norm",
                                  "ffn.lin1",          "ffn.lin2",          "output_layer_norm"};

class DistilBertModel : public Pretrained {
 public:
  DistilBertModel(Config config, std::string architecture)
      : Pretrained(std::move(config), "distilbert.", std::move(architecture)),
        root_(blueprint_),
        encoder_(root_ / "distilbert", distilbert_encoder_config(config_), kNames) {}

  nn::Encoder& encoder() override { return encoder_; }
  const nn::Encoder& encoder() const override { return encoder_; }

 protected:
  nn::Cursor root_;
  nn::Encoder encoder_;
};

class DistilBertForQuestionAnswering final : public DistilBertModel {
 public:
  explicit DistilBertForQuestionAnswering(Config config)
      : DistilBertModel(std::move(config), "DistilBertForQuestionAnswering"),
        head_(root_, encoder_.config(), config_.rate_or("qa_dropout", 0.1)) {}

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    return head_(ctx, batch, hidden);
  }

  SpanHead head_;
};

class DistilBertForSequenceClassification final : public DistilBertModel {
 public:
  explicit DistilBertForSequenceClassification(Config config)
      : DistilBertModel(std::move(config), "DistilBertForSequenceClassification"),
        pre_classifier_(root_ / "pre_classifier", encoder_.config().hidden, encoder_.config().hidden,
                        encoder_.config().init_range),
        classifier_(root_ / "classifier", encoder_.config().hidden, config_.num_labels(), encoder_.config().init_range),
        dropout_(config_.rate_or("seq_classif_dropout", 0.2)),
        site_(root_.dropout_site()) {
    config_.require("problem_type", "single_label_classification");
  }

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    const Var first = ops::first_tokens(ctx, hidden);  // (S, H)
    ctx.sequences = nn::sequence_rows_of(batch);
    const Var mixed = pre_classifier_(ctx, first, kernels::Activation::relu);
    const Var kept = ops::dropout(ctx, mixed, dropout_, site_);
    return classify(ctx, batch, classifier_.logits(ctx, kept), label_smoothing_);
  }

  nn::Linear pre_classifier_, classifier_;
  float dropout_;
  std::uint32_t site_;
};

}  // namespace

std::unique_ptr<Pretrained> make_distilbert(Config config, Head head) {
  switch (head) {
    case Head::question_answering:
      return std::make_unique<DistilBertForQuestionAnswering>(std::move(config));
    case Head::sequence_classification:
      return std::make_unique<DistilBertForSequenceClassification>(std::move(config));
    case Head::masked_lm:
      break;
  }
  fail("{}: {} is not supported for DistilBERT; use BERT", config.file(), name_of(head));
}

}  // namespace hearth::models
