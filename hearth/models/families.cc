#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/models/family.h"

namespace hearth::models {

#define FAMILY(name) extern const Family name;
#include "hearth/models/families.def"
#undef FAMILY

std::span<const Family* const> families() {
#define FAMILY(name) &name,
  static constexpr const Family* all[] = {
#include "hearth/models/families.def"
  };
#undef FAMILY
  return all;
}

bool is_known_family(std::string_view model_type) {
  return std::ranges::find(families(), model_type, &Family::model_type) != families().end();
}

const Family& family_of(const Config& config) {
  const std::string type = config.model_type();
  const auto found = std::ranges::find(families(), type, &Family::model_type);
  if (found != families().end()) return **found;
  std::vector<std::string_view> known;
  for (const Family* family : families()) known.push_back(family->model_type);
  fail("{}: model_type '{}' is not supported; use one of {}", config.file(), type, fmt::join(known, ", "));
}

nn::TransformerConfig transformer_config(const Config& config) {
  nn::TransformerConfig encoder = family_of(config).encoder(config);
  check(encoder.hidden % encoder.heads == 0,
        "{}: the hidden size {} is not a multiple of the number of attention heads, {}", config.file(), encoder.hidden,
        encoder.heads);
  return encoder;
}

void override_fields(Config& config, std::string_view overrides) {
  const io::Json defaults = family_of(config).defaults();
  std::vector<std::string_view> known{"num_labels"};
  for (auto field = defaults.begin(); field != defaults.end(); ++field) known.push_back(field.key());
  config.override_fields(overrides, known);
}

float DropoutRate::of(const Config& config, const nn::TransformerConfig& encoder) const {
  if (field.empty()) return 0;
  const bool is_null = config.values().contains(field) && config.values().at(std::string(field)).is_null();
  return config.rate_or(field, is_null ? encoder.hidden_dropout : otherwise.value_or(encoder.hidden_dropout));
}

}  // namespace hearth::models
