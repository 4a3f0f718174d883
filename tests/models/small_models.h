// Models of the golden configurations with random weights, and a training step of each.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/models/model_folder.h"

namespace hearth::models {

struct Built {
  std::string golden;
  HeadKind head;
};

inline const std::vector<Built> kModels = {{"bert-qa", HeadKind::question_answering},
                                           {"bert-qa", HeadKind::sequence_classification},
                                           {"bert-qa", HeadKind::masked_lm},
                                           {"distilbert-qa", HeadKind::question_answering},
                                           {"distilbert-qa", HeadKind::sequence_classification},
                                           {"roberta-cls", HeadKind::question_answering},
                                           {"roberta-cls", HeadKind::sequence_classification},
                                           {"bert-qa", HeadKind::token_classification},
                                           {"distilbert-qa", HeadKind::token_classification},
                                           {"roberta-cls", HeadKind::token_classification},
                                           {"distilbert-qa", HeadKind::masked_lm},
                                           {"roberta-cls", HeadKind::masked_lm},
                                           {"xlm-roberta-cls", HeadKind::sequence_classification},
                                           {"xlm-roberta-cls", HeadKind::masked_lm},
                                           {"electra-cls", HeadKind::question_answering},
                                           {"electra-cls", HeadKind::sequence_classification},
                                           {"electra-cls", HeadKind::masked_lm},
                                           {"albert-cls", HeadKind::question_answering},
                                           {"albert-cls", HeadKind::sequence_classification},
                                           {"albert-cls", HeadKind::masked_lm},
                                           {"albert-tokcls", HeadKind::token_classification}};

inline std::unique_ptr<Pretrained> build(const Built& built, const std::string& overrides = "",
                                         const Freezing& freezing = {}) {
  Config config = Config::read(golden(built.golden));
  config.forget_labels();
  config.set_vocab_size(997);
  config.override_fields(overrides, std::array<std::string_view, 1>{"num_labels"});
  return build_model(std::move(config), built.head, 42, freezing);
}

inline Batch small_batch(HeadKind head) {
  Batch batch;
  for (std::uint32_t s = 0; s < 3; ++s) {
    std::vector<std::int32_t> ids;
    for (std::uint32_t i = 0; i < 10 + 9 * s; ++i)
      ids.push_back(static_cast<std::int32_t>(3 + (s * 77 + i * 13) % 900));
    batch.append(ids, std::vector<std::int32_t>(ids.size()), s);
  }
  if (head == HeadKind::question_answering) {
    batch.labels = {{"start_positions", {1, 5, 0}}, {"end_positions", {3, 7, 0}}};
  } else if (head == HeadKind::sequence_classification) {
    batch.labels = {{"labels", {1, 0, 1}}};
  } else {
    const std::int64_t classes = head == HeadKind::masked_lm ? 997 : 2;
    std::vector<std::int64_t>& labels = batch.labels["labels"];
    for (std::int64_t t = 0; t < batch.tokens(); ++t)
      labels.push_back(t % 7 == 0 ? batch.input_ids[t] % classes : -100);
  }
  return batch;
}

struct Step {
  std::vector<float> logits, grads;
  float loss = 0;
  std::vector<std::int64_t> ready;  // offsets
  bool operator==(const Step&) const = default;
};

// `ctx` holds the options of the pass.
inline Step train(Pretrained& model, const Batch& batch, ops::Context ctx = {}) {
  Tape tape;
  ctx.tape = &tape;
  ctx.training = true;
  ctx.seed = 1;
  model.parameters().zero_grad();
  const nn::ModelOutput output = model.forward(ctx, shared_batch(batch));
  Step step;
  step.loss = output.loss.value().item();
  for (const auto& [name, logits] : output.logits)
    step.logits.insert(step.logits.end(), logits.value().data<float>(),
                       logits.value().data<float>() + logits.value().size());
  tape.backward(output.loss, 1, [&](Parameter& parameter) { step.ready.push_back(parameter.offset); });
  model.parameters().complete_grads();
  const Tensor& grads = model.parameters().grad();
  step.grads.assign(grads.data<float>(), grads.data<float>() + grads.size());
  return step;
}

inline std::string describe(const Built& built) { return built.golden + " for " + std::string(name_of(built.head)); }

}  // namespace hearth::models
