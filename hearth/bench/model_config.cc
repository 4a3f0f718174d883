#include "hearth/bench/model_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/hub/model.h"

namespace hearth::bench {
namespace {

struct Size {
  std::string_view name;
  std::int64_t layers, hidden, heads, intermediate;
};

constexpr std::array kSizes{Size{"bert-tiny", 2, 128, 2, 512},    Size{"bert-mini", 4, 256, 4, 1024},
                            Size{"bert-small", 4, 512, 8, 2048},  Size{"bert-medium", 8, 512, 8, 2048},
                            Size{"bert-base", 12, 768, 12, 3072}, Size{"bert-large", 24, 1024, 16, 4096}};

std::filesystem::path folder_of(const std::string& model) {
  try {
    return hub::find_model(model, hub::ModelParts::config);
  } catch (const Error& error) {
    fail("{}; built-in models are {}", error.what(), fmt::join(built_in_models(), ", "));
  }
}

}  // namespace

std::vector<std::string> built_in_models() {
  std::vector<std::string> names;
  for (const Size& size : kSizes) names.emplace_back(size.name);
  return names;
}

models::Config model_config(const std::string& name_or_folder) {
  const auto size = std::ranges::find(kSizes, name_or_folder, &Size::name);
  if (size == kSizes.end()) return models::Config::read(folder_of(name_or_folder));
  return {{{"model_type", "bert"},
           {"vocab_size", 30522},
           {"hidden_size", size->hidden},
           {"num_hidden_layers", size->layers},
           {"num_attention_heads", size->heads},
           {"intermediate_size", size->intermediate},
           {"max_position_embeddings", 512},
           {"type_vocab_size", 2},
           {"hidden_dropout_prob", 0.1},
           {"attention_probs_dropout_prob", 0.1}},
          name_or_folder};
}

}  // namespace hearth::bench
