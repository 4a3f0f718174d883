#include "hearth/bench/model_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/hub/model.h"
#include "hearth/models/family.h"

namespace hearth::bench {
namespace {

// The sizes of BERT, which other families share.
constexpr std::string_view kBase = "num_hidden_layers=12,hidden_size=768,num_attention_heads=12,intermediate_size=3072";
constexpr std::string_view kLarge =
    "num_hidden_layers=24,hidden_size=1024,num_attention_heads=16,intermediate_size=4096";
// What the models of the Hub have in place of the family's defaults.
constexpr std::string_view kRoberta = "max_position_embeddings=514,type_vocab_size=1,layer_norm_eps=1e-5";

// The defaults of a family, with changes.
struct BuiltIn {
  std::string_view name, model_type, sizes = "", others = "";
};

constexpr std::array kBuiltIn{
    BuiltIn{"bert-tiny", "bert", "num_hidden_layers=2,hidden_size=128,num_attention_heads=2,intermediate_size=512"},
    BuiltIn{"bert-mini", "bert", "num_hidden_layers=4,hidden_size=256,num_attention_heads=4,intermediate_size=1024"},
    BuiltIn{"bert-small", "bert", "num_hidden_layers=4,hidden_size=512,num_attention_heads=8,intermediate_size=2048"},
    BuiltIn{"bert-medium", "bert", "num_hidden_layers=8,hidden_size=512,num_attention_heads=8,intermediate_size=2048"},
    BuiltIn{"bert-base", "bert"},
    BuiltIn{"bert-large", "bert", kLarge},
    BuiltIn{"distilbert-base", "distilbert"},
    BuiltIn{"distilroberta-base", "roberta", "num_hidden_layers=6", kRoberta},
    BuiltIn{"roberta-base", "roberta", "", kRoberta},
    BuiltIn{"roberta-large", "roberta", kLarge, kRoberta},
    BuiltIn{"xlm-roberta-base", "xlm-roberta", "vocab_size=250002", kRoberta},
    BuiltIn{"electra-small", "electra"},
    BuiltIn{"electra-base", "electra", kBase, "embedding_size=768"},
    BuiltIn{"albert-base", "albert", kBase},
    BuiltIn{"albert-large", "albert", kLarge}};

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
  for (const BuiltIn& model : kBuiltIn) names.emplace_back(model.name);
  return names;
}

models::Config model_config(const std::string& name_or_folder) {
  const auto model = std::ranges::find(kBuiltIn, name_or_folder, &BuiltIn::name);
  if (model == kBuiltIn.end()) return models::Config::read(folder_of(name_or_folder));
  const models::Config named({{"model_type", model->model_type}}, name_or_folder);
  models::Config config(models::family_of(named).defaults(), name_or_folder);
  override_fields(config, model->sizes);
  override_fields(config, model->others);
  return config;
}

}  // namespace hearth::bench
