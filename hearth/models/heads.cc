#include <span>

#include "hearth/base/check.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/models/family.h"
#include "hearth/models/head.h"
#include "hearth/nn/layers.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/rows.h"
#include "hearth/ops/vocabulary_loss.h"

namespace hearth::models {
namespace {

struct Parts {
  const Family& family;
  const Config& config;
  const nn::ParameterScope& root;
  const nn::Encoder& backbone;

  const nn::TransformerConfig& encoder() const { return backbone.config(); }
  float rate(const DropoutRate& dropout) const { return dropout.of(config, encoder()); }
  nn::Linear linear(std::string_view name, std::int64_t outputs) const {
    return {root / name, encoder().hidden, outputs, {.init_range = encoder().init_range}};
  }
};

Var column(const Tensor& matrix, std::int64_t index) {
  Tensor column({matrix.rows()}, DType::f32);
  for (std::int64_t row = 0; row < matrix.rows(); ++row)
    column.data<float>()[row] = matrix.data<float>()[row * matrix.row_size() + index];
  return Var(column);
}

// Logits of one number, or of several yes-or-no labels, per row, with the loss where the batch has float labels.
nn::ModelOutput with_float_labels(ops::Context& ctx, const Batch& batch, const Var& logits, ProblemType problem) {
  nn::ModelOutput output{Var(), logits};
  const auto labels = batch.float_labels.find("labels");
  if (labels == batch.float_labels.end()) return output;
  output.loss =
      problem == ProblemType::regression
          ? ops::mean_squared_error(ctx, logits, labels->second)
          : ops::binary_cross_entropy(ctx, logits, labels->second,
                                      {.class_weights = ctx.loss.class_weights, .focal_gamma = ctx.loss.focal_gamma});
  return output;
}

// What transformers decides at the first loss if config.json says nothing.
ProblemType guessed_problem(std::int64_t labels, const Batch& batch) {
  if (labels == 1) return ProblemType::regression;
  return batch.float_labels.contains("labels") ? ProblemType::multi_label_classification
                                               : ProblemType::single_label_classification;
}

// The family's pooler belongs to its bare model: it is neither used nor trained, but loaded and saved.
void keep_pooler(const Parts& parts) {
  if (!parts.family.pooler.empty()) parts.linear(parts.family.pooler, parts.encoder().hidden);
}

// Start and end logits of each token, (T) each.
class SpanHead final : public Head {
 public:
  explicit SpanHead(const Parts& parts)
      : outputs_(parts.linear("qa_outputs", 2)), dropout_(parts.root, parts.rate(parts.family.span_dropout)) {}

  nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& hidden) const override {
    const Var kept = dropout_(ctx, hidden);
    const Var logits = outputs_.logits(ctx, kept);  // (T, 2)
    nn::ModelOutput output;
    output.logits = {{"start_logits", column(logits.value(), 0)}, {"end_logits", column(logits.value(), 1)}};
    const auto starts = batch.labels.find("start_positions"), ends = batch.labels.find("end_positions");
    if (starts != batch.labels.end() && ends != batch.labels.end())
      output.loss = ops::span_loss(ctx, logits, starts->second, ends->second);
    return output;
  }

 private:
  nn::Linear outputs_;
  nn::Dropout dropout_;
};

// Logits of each sequence, (S, labels).
class SequenceClassifier final : public Head {
 public:
  explicit SequenceClassifier(const Parts& parts)
      : variant_(parts.family.classifier),
        dense_(parts.linear(variant_.dense, parts.encoder().hidden)),
        output_(parts.linear(variant_.output, parts.config.num_labels())),
        before_(parts.root, variant_.drops_input ? parts.rate(variant_.dropout) : 0),
        after_(parts.root, parts.rate(variant_.dropout)),
        labels_(parts.config.num_labels()),
        problem_(parts.config.problem_type()) {}

  nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& hidden) const override {
    const Var first = ops::first_tokens(ctx, hidden);  // (S, H)
    const Var kept = before_(ctx, first);
    const Var mixed = dense_(ctx, kept, variant_.activation);
    const Var pooled = after_(ctx, mixed);
    const Var logits = output_.logits(ctx, pooled);
    const ProblemType problem = problem_.value_or(guessed_problem(labels_, batch));
    return problem == ProblemType::single_label_classification ? nn::classified(ctx, batch, logits)
                                                               : with_float_labels(ctx, batch, logits, problem);
  }

 private:
  ClassifierVariant variant_;
  nn::Linear dense_, output_;
  nn::Dropout before_, after_;
  std::int64_t labels_;
  std::optional<ProblemType> problem_;
};

// Logits of each token, (T, labels).
class TokenClassifier final : public Head {
 public:
  explicit TokenClassifier(const Parts& parts)
      : output_(parts.linear("classifier", parts.config.num_labels())),
        dropout_(parts.root, parts.rate(parts.family.token_dropout)) {}

  nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& hidden) const override {
    const Var kept = dropout_(ctx, hidden);
    return nn::classified(ctx, batch, output_.logits(ctx, kept));
  }

 private:
  nn::Linear output_;
  nn::Dropout dropout_;
};

// The most likely token at each of these positions, -1 elsewhere: (T).
Var tokens_at(std::span<const std::int64_t> positions, std::span<const std::int32_t> tokens, std::int64_t length) {
  const Tensor all({length}, DType::f32);
  kernels::fill(DType::f32, length, -1, all.raw());
  for (std::size_t i = 0; i < positions.size(); ++i) all.data<float>()[positions[i]] = static_cast<float>(tokens[i]);
  return Var(all);
}

// Where the batch has "labels", one per token: the loss over the positions whose label is not -100, and without a tape
// the most likely token there. The head runs on these positions alone, and no logits are kept. Without labels: logits
// of each token over the vocabulary, (T, V). The word embeddings are the weights.
class MaskedLmHead final : public Head {
 public:
  explicit MaskedLmHead(const Parts& parts) : MaskedLmHead(parts, parts.family.masked_lm) {
    parts.config.require("tie_word_embeddings", true);
  }

  nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& hidden) const override {
    const auto labels = batch.labels.find("labels");
    return labels == batch.labels.end() ? logits(ctx, hidden) : loss(ctx, hidden, labels->second);
  }

 private:
  MaskedLmHead(const Parts& parts, const MaskedLmVariant& variant)
      : dense_(parts.linear(variant.dense, parts.encoder().embedding_width())),
        norm_(parts.root / variant.norm, parts.encoder().embedding_width(), parts.encoder().eps),
        bias_(&(parts.root / variant.bias).parameter("bias", {parts.encoder().vocab_size}, nn::Init::zeros())),
        words_(&parts.backbone.word_embeddings()),
        activation_(variant.activation.value_or(parts.encoder().activation)) {}

  Var transformed(ops::Context& ctx, const Var& hidden) const {
    const Var mixed = dense_(ctx, hidden, activation_);
    return norm_(ctx, mixed);
  }

  nn::ModelOutput logits(ops::Context& ctx, const Var& hidden) const {
    const Var normed = transformed(ctx, hidden);
    return {Var(), ops::linear(ctx, normed, *words_, bias_, kernels::Activation::none,
                               value_dtype(ops::Value::logit, ctx.compute))};
  }

  nn::ModelOutput loss(ops::Context& ctx, const Var& hidden, std::span<const std::int64_t> labels) const {
    check(std::ssize(labels) == hidden.value().rows(), "[masked language modelling] {} labels for {} tokens",
          labels.size(), hidden.value().rows());
    check(ctx.loss.class_weights.empty() && ctx.loss.focal_gamma == 0,
          "[masked language modelling] class weights and focal_gamma are not supported");
    std::vector<std::int64_t> positions, targets;
    for (std::size_t token = 0; token < labels.size(); ++token) {
      if (labels[token] == kernels::CrossEntropyOptions().ignore_label) continue;
      positions.push_back(static_cast<std::int64_t>(token));
      targets.push_back(labels[token]);
    }
    const Var masked = ops::take_rows(ctx, hidden, positions);
    const Var normed = transformed(ctx, masked);
    const ops::VocabularyLoss result =
        ops::vocabulary_loss(ctx, normed, *words_, *bias_, targets, ctx.loss.label_smoothing);
    nn::ModelOutput output;
    output.loss = result.loss;
    if (ctx.tape == nullptr)
      output.logits = {{"predictions", tokens_at(positions, result.predicted, std::ssize(labels))}};
    return output;
  }

  nn::Linear dense_;
  nn::LayerNorm norm_;
  Parameter *bias_, *words_;
  kernels::Activation activation_;
};

}  // namespace

std::unique_ptr<Head> make_head(const HeadSpec& spec, const Family& family, const Config& config,
                                const nn::ParameterScope& root, const nn::Encoder& backbone) {
  const Parts parts{family, config, root, backbone};
  switch (spec.kind) {
    case HeadKind::question_answering:
      return std::make_unique<SpanHead>(parts);
    case HeadKind::sequence_classification:
      return std::make_unique<SequenceClassifier>(parts);
    case HeadKind::token_classification:
      return std::make_unique<TokenClassifier>(parts);
    case HeadKind::masked_lm:
      return std::make_unique<MaskedLmHead>(parts);
    case HeadKind::embedding:
      keep_pooler(parts);
      return make_embedding_head(spec.embedding);
  }
  fail("[models] unknown head {}", static_cast<int>(spec.kind));
}

}  // namespace hearth::models
