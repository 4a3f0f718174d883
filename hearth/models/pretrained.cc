#include "hearth/models/pretrained.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hearth/base/log.h"
#include "hearth/base/profiler.h"
#include "hearth/io/file.h"
#include "hearth/io/model_weights.h"
#include "hearth/io/safetensors.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/models/family.h"

namespace hearth::models {
namespace {

Tensor in_f32(const Tensor& values) {
  if (values.type() == DType::f32) return values;
  Tensor result(values.shape(), DType::f32);
  kernels::convert(values.type(), values.raw(), DType::f32, result.raw(), values.size());
  return result;
}

}  // namespace
Pretrained::Pretrained(Config config, HeadKind head, const Freezing& freezing)
    : config_(std::move(config)),
      head_kind_(head),
      prefix_(std::string(family_of(config_).prefix) + "."),
      architecture_(std::string(family_of(config_).class_name) + std::string(architecture_suffix(head))),
      backbone_(nn::ParameterScope(builder_, std::string(family_of(config_).prefix)), transformer_config(config_),
                *family_of(config_).names),
      head_(make_head(head, family_of(config_), config_, nn::ParameterScope(builder_), backbone_)) {
  freeze(parameters(), freezing, family_of(config_), backbone_.config());
}

std::int64_t Pretrained::logits_per_token() const {
  if (head_kind_ == HeadKind::sequence_classification) return 0;
  return head_kind_ == HeadKind::masked_lm ? backbone_.config().vocab_size : config_.num_labels();
}

void Pretrained::initialise_all(std::uint64_t seed) {
  parameters().allocate();
  for (const NamedParameter& parameter : parameters().named())
    nn::initialise(builder(), parameter.name, parameter.value, seed);
  parameters().mark_changed();
}

nn::ModelOutput Pretrained::forward(ops::Context& ctx, const BatchPtr& batch) {
  const Span span("forward");
  ctx.begin(batch);
  const Var hidden = backbone_(ctx, *batch);
  return (*head_)(ctx, *batch, hidden);
}

void Pretrained::save_pretrained(const std::filesystem::path& folder) const {
  io::create_directories(folder);
  io::Json config = config_.values();
  config["architectures"] = {architecture_};
  for (const char* key : {"torch_dtype", "dtype"})
    if (config.contains(key)) config[key] = "float32";
  io::replace_file(folder / "config.json", io::dump_json(config, 2, true) + "\n");
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const NamedParameter& parameter : parameters().named())
    tensors.emplace_back(parameter.name, in_f32(parameter.value));
  io::write_safetensors(folder / "model.safetensors", tensors);
}

}  // namespace hearth::models
