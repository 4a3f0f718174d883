#include "hearth/models/family.h"
#include "hearth/models/pretrained.h"

namespace hearth::models {
namespace {

std::unique_ptr<Pretrained> make(Config config, HeadKind head) {
  // Start and end logits: transformers sizes this head by the number of labels as well.
  if (head == HeadKind::question_answering && config.num_labels() != 2) config.forget_labels();
  return std::make_unique<Pretrained>(std::move(config), head);
}

}  // namespace

std::unique_ptr<Pretrained> load_pretrained(const std::filesystem::path& folder, HeadKind head,
                                            const LoadOptions& options) {
  Config config = Config::read(options.config_folder.empty() ? folder : options.config_folder);
  config.override_fields(options.config_overrides, family_of(config).fields);
  std::unique_ptr<Pretrained> model = make(std::move(config), head);
  model->load_weights(folder, options.seed);
  return model;
}

std::unique_ptr<Pretrained> build_model(Config config, HeadKind head, std::uint64_t seed) {
  std::unique_ptr<Pretrained> model = make(std::move(config), head);
  model->initialise_all(seed);
  return model;
}

}  // namespace hearth::models
