#include "hearth/models/pretrained.h"

#include "hearth/base/profiler.h"
#include "hearth/io/json.h"
#include "hearth/models/family.h"
#include "hearth/nn/load_weights.h"

namespace hearth::models {

Pretrained::Pretrained(Config config, HeadKind head, const Freezing& freezing)
    : config_(std::move(config)),
      head_kind_(head),
      prefix_(std::string(family_of(config_).prefix) + "."),
      architecture_(std::string(family_of(config_).class_name) + std::string(architecture_suffix(head))),
      backbone_(root() / family_of(config_).prefix, transformer_config(config_), *family_of(config_).names),
      head_(make_head(head, family_of(config_), config_, root(), backbone_)) {
  freeze(parameters(), freezing, family_of(config_), backbone_.config());
}

std::int64_t Pretrained::logits_per_token() const {
  const bool per_token = head_kind_ == HeadKind::question_answering || head_kind_ == HeadKind::token_classification;
  return per_token ? config_.num_labels() : 0;
}

bool Pretrained::multiplies(const Parameter& parameter) const {
  const bool is_tied = head_kind_ == HeadKind::masked_lm && &parameter == &backbone_.word_embeddings();
  return parameter.shape.rank() == 2 && (!parameter.is_embedding || is_tied);
}

void Pretrained::load_weights(const std::filesystem::path& folder, std::uint64_t seed, bool ignores_shapes) {
  const auto belongs_to_head = [&](std::string_view name) {
    return !name.starts_with(prefix_) || name.substr(prefix_.size()).starts_with("pooler.");
  };
  nn::load_weights(builder_, folder,
                   {.model = architecture_,
                    .config_file = config_.file(),
                    .optional_prefix = prefix_,
                    .may_be_new = belongs_to_head,
                    .ignores_shapes = ignores_shapes,
                    .seed = seed});
}

nn::ModelOutput Pretrained::forward(ops::Context& ctx, const BatchPtr& batch) {
  const Span span("forward");
  ctx.begin(batch);
  const Var hidden = backbone_(ctx, *batch);
  return (*head_)(ctx, *batch, hidden);
}

std::string Pretrained::config_json() const {
  io::Json config = config_.values();
  config["architectures"] = {architecture_};
  for (const char* key : {"torch_dtype", "dtype"})
    if (config.contains(key)) config[key] = "float32";
  return io::dump_json(config, 2, true) + "\n";
}

}  // namespace hearth::models
