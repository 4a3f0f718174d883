#include "hearth/nn/model.h"

#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"
#include "hearth/nn/load_weights.h"
#include "hearth/ops/cast.h"

namespace hearth::nn {

double Model::training_flops(const Batch& batch) const {
  double flops = 0;      // per token
  bool reaches = false;  // backward does
  for (const auto& parameter : parameters().parameters()) {
    reaches = reaches || parameter->trainable;
    const int passes = 1 + (reaches ? 1 : 0) + (parameter->trainable ? 1 : 0);
    if (!parameter->is_embedding) flops += 2.0 * passes * static_cast<double>(parameter->shape.size());
  }
  return flops * static_cast<double>(batch.tokens());
}

void Model::save_pretrained(const std::filesystem::path& folder) const {
  io::create_directories(folder);
  if (const std::string config = config_json(); !config.empty()) io::replace_file(folder / "config.json", config);
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const NamedParameter& each : parameters().named())
    tensors.emplace_back(each.name, ops::in_dtype(each.value, DType::f32));
  io::write_safetensors(folder / "model.safetensors", tensors);
}

void Model::initialise(std::uint64_t seed) {
  if (!parameters().is_allocated()) parameters().allocate();
  for (const auto& parameter : parameters().parameters())
    if (parameter->master.type() != DType::f32) parameter->store_as(DType::f32);
  for (const NamedParameter& each : parameters().named()) nn::initialise(builder_, each.name, each.value, seed);
  parameters().mark_changed();
}

void Model::load_weights(const std::filesystem::path& folder) { nn::load_weights(builder_, folder); }

}  // namespace hearth::nn
