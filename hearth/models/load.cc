#include <fmt/format.h>

#include "hearth/base/check.h"
#include "hearth/models/family.h"
#include "hearth/models/pretrained.h"

namespace hearth::models {

std::unique_ptr<Pretrained> outline(Config config, const HeadSpec& head, const Freezing& freezing) {
  // Start and end logits: transformers sizes this head by the number of labels as well.
  if (head.kind == HeadKind::question_answering && config.num_labels() != 2) config.forget_labels();
  if (!head.labels.empty()) config.set_labels(head.labels);
  if (head.problem) config.set_problem_type(*head.problem);
  if (head.finetuning_task) config.set_finetuning_task(*head.finetuning_task);
  return std::make_unique<Pretrained>(std::move(config), head, freezing);
}

Config load_config(const std::filesystem::path& folder, const LoadOptions& options) {
  Config config = Config::read(options.config_folder.empty() ? folder : options.config_folder);
  override_fields(config, options.config_overrides);
  return config;
}

Config new_config(std::string_view model_type, std::int64_t tokens, const LoadOptions& options) {
  const auto defaults = [&] {
    const Config named(io::Json{{"model_type", model_type}}, fmt::format("--model_type {}", model_type));
    return Config(family_of(named).defaults(), named.file());
  };
  Config config = options.config_folder.empty() ? defaults() : Config::read(options.config_folder);
  override_fields(config, options.config_overrides);
  if (config.size("vocab_size") < tokens) config.set_vocab_size(tokens);
  return config;
}

std::unique_ptr<Pretrained> load_pretrained(const std::filesystem::path& folder, const HeadSpec& head,
                                            const LoadOptions& options) {
  std::unique_ptr<Pretrained> model = outline(load_config(folder, options), head, options.freezing);
  model->load_weights(folder, options.seed, options.ignore_mismatched_sizes);
  return model;
}

std::unique_ptr<Pretrained> build_model(Config config, const HeadSpec& head, std::uint64_t seed,
                                        const Freezing& freezing) {
  std::unique_ptr<Pretrained> model = outline(std::move(config), head, freezing);
  model->initialise(seed);
  return model;
}

}  // namespace hearth::models
