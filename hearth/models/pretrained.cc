#include "hearth/models/pretrained.h"

#include <algorithm>

#include "hearth/base/profiler.h"
#include "hearth/io/json.h"
#include "hearth/models/family.h"
#include "hearth/nn/load_weights.h"
#include "hearth/ops/chunks.h"

namespace hearth::models {
namespace {

constexpr std::string_view kPooler = "pooler.";

// Weights that transformers ties: files have them under the names of the decoder as well, or instead.
std::map<std::string, std::string> tied_names(const Family& family) {
  const std::string decoder(family.masked_lm.decoder);
  return {{std::string(family.masked_lm.bias) + ".bias", decoder + ".bias"},
          {std::string(family.prefix) + ".embeddings.word_embeddings.weight", decoder + ".weight"}};
}

}  // namespace

Pretrained::Pretrained(Config config, const HeadSpec& head, const Freezing& freezing)
    : config_(std::move(config)),
      head_kind_(head.kind),
      prefix_(is_bare() ? "" : std::string(family_of(config_).prefix) + "."),
      architecture_(std::string(family_of(config_).class_name) + std::string(architecture_suffix(head.kind))),
      backbone_(is_bare() ? root() : root() / family_of(config_).prefix, transformer_config(config_),
                *family_of(config_).names),
      head_(make_head(head, family_of(config_), config_, root(), backbone_)) {
  if (is_bare()) parameters().freeze([](std::string_view name) { return name.starts_with(kPooler); });
  freeze(parameters(), freezing, prefix_, family_of(config_), backbone_.config());
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
    return !name.starts_with(prefix_) || name.substr(prefix_.size()).starts_with(kPooler);
  };
  const Family& family = family_of(config_);
  nn::load_weights(
      builder_, folder,
      {.model = architecture_,
       .config_file = config_.file(),
       .optional_prefix = std::string(family.prefix) + ".",
       .other_names = head_kind_ == HeadKind::masked_lm ? tied_names(family) : decltype(tied_names(family)){},
       .may_be_new = belongs_to_head,
       .reports_new = !is_bare(),
       .ignores_shapes = ignores_shapes,
       .seed = seed});
}

nn::ModelOutput Pretrained::forward(ops::Context& ctx, const BatchPtr& batch) {
  const Span span("forward");
  ctx.begin(batch);
  const auto read = [this](ops::Context& part) {
    const Var hidden = backbone_(part, *part.batch);
    return head_->features(part, hidden);
  };
  const std::int64_t chunk = head_->sequences_per_chunk();
  const Var features = chunk > 0 ? ops::in_chunks(ctx, chunk, read) : read(ctx);
  return (*head_)(ctx, *batch, features);
}

Var Pretrained::hidden_states(ops::Context& ctx, const BatchPtr& batch) {
  ctx.begin(batch);
  return backbone_(ctx, *batch);
}

std::int64_t Pretrained::tokens_at_once(const Batch& batch) const {
  const std::int64_t chunk = head_->sequences_per_chunk(), count = batch.sequences();
  if (chunk == 0 || count <= chunk) return batch.tokens();
  std::int64_t most = 0;
  for (std::int64_t begin = 0; begin < count; begin += chunk)
    most = std::max(most, batch.starts[static_cast<std::size_t>(std::min(begin + chunk, count))] -
                              batch.starts[static_cast<std::size_t>(begin)]);
  return most;
}

std::string Pretrained::config_json() const {
  io::Json config = config_.values();
  config["architectures"] = {architecture_};
  for (const char* key : {"torch_dtype", "dtype"})
    if (config.contains(key)) config[key] = "float32";
  return io::dump_json(config, 2, true) + "\n";
}

}  // namespace hearth::models
