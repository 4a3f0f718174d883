#include "hearth/models/auto_model.h"

#include "hearth/hub/model.h"
#include "hearth/models/pretrained.h"

namespace hearth {
namespace {

std::shared_ptr<nn::Model> load(models::HeadKind kind, const std::string& name, const FromPretrained& options) {
  models::HeadSpec head(kind);
  head.labels = options.labels;
  models::LoadOptions loading;
  loading.seed = options.seed;
  loading.config_overrides = options.config_overrides;
  loading.ignore_mismatched_sizes = options.ignore_mismatched_sizes;
  loading.freezing = {options.freeze, options.freeze_layers};
  return models::load_pretrained(hub::find_model(name, hub::ModelParts::all), head, loading);
}

}  // namespace

using Pointer = std::shared_ptr<nn::Model>;

Pointer AutoModelForSequenceClassification::from_pretrained(const std::string& name, const FromPretrained& options) {
  return load(models::HeadKind::sequence_classification, name, options);
}

Pointer AutoModelForTokenClassification::from_pretrained(const std::string& name, const FromPretrained& options) {
  return load(models::HeadKind::token_classification, name, options);
}

Pointer AutoModelForQuestionAnswering::from_pretrained(const std::string& name, const FromPretrained& options) {
  return load(models::HeadKind::question_answering, name, options);
}

Pointer AutoModelForMaskedLM::from_pretrained(const std::string& name, const FromPretrained& options) {
  return load(models::HeadKind::masked_lm, name, options);
}

}  // namespace hearth
