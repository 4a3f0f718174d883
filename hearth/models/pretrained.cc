#include "hearth/models/pretrained.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hearth/base/log.h"
#include "hearth/base/profiler.h"
#include "hearth/io/checkpoint.h"
#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"
#include "hearth/kernels/elementwise.h"
#include "hearth/models/family.h"

namespace hearth::models {
namespace {

std::optional<std::string> stored_name(const io::Checkpoint& weights, const std::string& name,
                                       const std::string& prefix) {
  if (auto found = weights.stored_name(name)) return found;
  return name.starts_with(prefix) ? weights.stored_name(name.substr(prefix.size())) : std::nullopt;
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  if (names.size() <= kShown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kShown, ", "), names.size() - kShown);
}

}  // namespace

Pretrained::Pretrained(Config config, HeadKind head)
    : config_(std::move(config)),
      prefix_(std::string(family_of(config_).prefix) + "."),
      architecture_(std::string(family_of(config_).class_name) + std::string(architecture_suffix(head))),
      backbone_(nn::Cursor(blueprint_, std::string(family_of(config_).prefix)), encoder_config(config_),
                *family_of(config_).names),
      head_(make_head(head, family_of(config_), config_, nn::Cursor(blueprint_), backbone_)) {
  parameters().allocate();
}

bool Pretrained::belongs_to_head(std::string_view name) const {
  return !name.starts_with(prefix_) || name.substr(prefix_.size()).starts_with("pooler.");
}

void Pretrained::load_weights(const std::filesystem::path& folder, std::uint64_t seed) {
  const io::Checkpoint weights = io::Checkpoint::open(folder);
  std::vector<std::string> missing, misshapen, fresh;
  std::set<std::string> used;
  for (const auto& parameter : parameters().parameters())
    for (const Parameter::Part& part : parameter->parts) {
      const std::optional<std::string> name = stored_name(weights, part.name, prefix_);
      if (!name) {
        (belongs_to_head(part.name) ? fresh : missing).push_back(part.name);
        if (belongs_to_head(part.name)) nn::initialise(blueprint(), *parameter, part, seed);
        continue;
      }
      used.insert(*name);
      const Tensor stored = weights.tensor(*name);
      if (stored.shape() != part.shape) {
        misshapen.push_back(fmt::format("{} has shape {}, but config.json asks for {}", *name,
                                        stored.shape().to_string(), part.shape.to_string()));
        continue;
      }
      check(stored.type() == DType::f32 || stored.type() == DType::bf16 || stored.type() == DType::f16,
            "{}: {} has dtype {}; weights must be float32, float16 or bfloat16", folder.string(), *name,
            hearth::name_of(stored.type()));
      kernels::convert(stored.type(), stored.raw(), DType::f32, parameter->master_part(part).raw(), stored.size());
    }
  std::vector<std::string> faults;
  if (!missing.empty()) faults.push_back(fmt::format("missing {}", list(missing)));
  if (!misshapen.empty()) faults.push_back(list(misshapen));
  check(faults.empty(), "the weights in {} do not fit a {}: {}", folder.string(), architecture_,
        fmt::join(faults, "; "));

  std::vector<std::string> unused;
  for (const std::string& name : weights.names())
    if (!used.contains(name) && !name.ends_with("position_ids")) unused.push_back(name);
  if (!unused.empty()) log_info("weights in {} that {} does not use: {}", folder.string(), architecture_, list(unused));
  if (!fresh.empty())
    log_info("{} does not have these weights, so they were newly initialised: {}; train the model before you use it",
             folder.string(), list(fresh));
  parameters().mark_changed();
}

void Pretrained::initialise_all(std::uint64_t seed) {
  for (const auto& parameter : parameters().parameters())
    for (const Parameter::Part& part : parameter->parts) nn::initialise(blueprint(), *parameter, part, seed);
  parameters().mark_changed();
}

nn::ModelOutput Pretrained::forward(ops::Context& ctx, const Batch& batch) {
  const Span span("forward");
  ctx.sequences = nn::sequences_of(batch);
  const Var hidden = backbone_(ctx, batch);
  return (*head_)(ctx, batch, hidden);
}

std::int64_t Pretrained::max_positions() const {
  const nn::EncoderConfig& config = backbone_.config();
  return config.positions - (config.positions_follow_padding ? config.padding_id + 1 : 0);
}

void Pretrained::save_pretrained(const std::filesystem::path& folder) const {
  io::create_directories(folder);
  io::Json config = config_.values();
  config["architectures"] = {architecture_};
  for (const char* key : {"torch_dtype", "dtype"})
    if (config.contains(key)) config[key] = "float32";
  io::replace_file(folder / "config.json", io::dump_json(config, 2, true) + "\n");
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto& parameter : parameters().parameters())
    for (const Parameter::Part& part : parameter->parts) tensors.emplace_back(part.name, parameter->master_part(part));
  io::write_safetensors(folder / "model.safetensors", tensors);
}

}  // namespace hearth::models
