#include "hearth/models/families.h"
#include "hearth/models/heads.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/rows.h"

namespace hearth::models {
namespace {

nn::EncoderConfig roberta_encoder_config(const Config& config) {
  nn::EncoderConfig encoder = bert_encoder_config(config);
  encoder.padding_id = config.token_id_or("pad_token_id", 1, encoder.vocab_size);
  encoder.positions_follow_padding = true;
  return encoder;
}

class RobertaModel : public Pretrained {
 public:
  RobertaModel(Config config, std::string architecture)
      : Pretrained(std::move(config), "roberta.", std::move(architecture)),
        root_(blueprint_),
        encoder_(root_ / "roberta", roberta_encoder_config(config_), bert_encoder_names()) {}

  nn::Encoder& encoder() override { return encoder_; }
  const nn::Encoder& encoder() const override { return encoder_; }

 protected:
  nn::Cursor root_;
  nn::Encoder encoder_;
};

class RobertaForQuestionAnswering final : public RobertaModel {
 public:
  explicit RobertaForQuestionAnswering(Config config)
      : RobertaModel(std::move(config), "RobertaForQuestionAnswering"), head_(root_, encoder_.config(), 0) {}

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    return head_(ctx, batch, hidden);
  }

  SpanHead head_;
};

class RobertaForSequenceClassification final : public RobertaModel {
 public:
  explicit RobertaForSequenceClassification(Config config)
      : RobertaModel(std::move(config), "RobertaForSequenceClassification"),
        dense_(root_ / "classifier.dense", encoder_.config().hidden, encoder_.config().hidden,
               encoder_.config().init_range),
        out_proj_(root_ / "classifier.out_proj", encoder_.config().hidden, config_.num_labels(),
                  encoder_.config().init_range),
        dropout_(config_.rate_or("classifier_dropout", encoder_.config().hidden_dropout)),
        before_site_(root_.dropout_site()),
        after_site_(root_.dropout_site()) {
    config_.require("problem_type", "single_label_classification");
  }

 private:
  nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) override {
    const Var first = ops::first_tokens(ctx, hidden);  // (S, H)
    ctx.sequences = nn::sequence_rows_of(batch);
    const Var kept = ops::dropout(ctx, first, dropout_, before_site_);
    const Var mixed = dense_(ctx, kept, kernels::Activation::tanh);
    const Var kept_again = ops::dropout(ctx, mixed, dropout_, after_site_);
    return classify(ctx, batch, out_proj_.logits(ctx, kept_again), label_smoothing_);
  }

  nn::Linear dense_, out_proj_;
  float dropout_;
  std::uint32_t before_site_, after_site_;
};

}  // namespace

std::unique_ptr<Pretrained> make_roberta(Config config, Head head) {
  switch (head) {
    case Head::question_answering:
      return std::make_unique<RobertaForQuestionAnswering>(std::move(config));
    case Head::sequence_classification:
      return std::make_unique<RobertaForSequenceClassification>(std::move(config));
    case Head::masked_lm:
      break;
  }
  fail("{}: {} is not supported for RoBERTa; use BERT", config.file(), name_of(head));
}

}  // namespace hearth::models
