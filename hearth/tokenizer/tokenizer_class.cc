#include "hearth/tokenizer/tokenizer_class.h"

#include <algorithm>
#include <array>

#include "hearth/io/json.h"
#include "hearth/tokenizer/settings_file.h"

namespace hearth::tokenizer {
namespace {

namespace fs = std::filesystem;

struct Family {
  std::string_view model_type, tokenizer_class;
};
// Families of models whose tokenizer is BERT's under a name of their own.
constexpr std::array kFamilies{Family{"bert", "BertTokenizer"}, Family{"distilbert", "DistilBertTokenizer"}};

std::string class_of_family(const SettingsFile& config) {
  const std::string type = io::get_string_or(config.values, "model_type", "", config.name);
  const auto found = std::ranges::find(kFamilies, type, &Family::model_type);
  return found == kFamilies.end() ? "" : std::string(found->tokenizer_class);
}

bool is_of_a_family(std::string_view tokenizer_class) {
  if (tokenizer_class.ends_with("Fast")) tokenizer_class.remove_suffix(4);
  return std::ranges::find(kFamilies, tokenizer_class, &Family::tokenizer_class) != kFamilies.end();
}

}  // namespace

std::string class_of_model(const fs::path& folder) {
  const SettingsFile config(folder / "config.json");
  const std::string named = io::get_string_or(config.values, "tokenizer_class", "", config.name);
  return named.empty() ? class_of_family(config) : named;
}

std::string class_to_save(const std::string& own, const fs::path& folder) {
  if (!is_of_a_family(own)) return own;
  const std::string family = class_of_family(SettingsFile(folder / "config.json"));
  return family.empty() ? own : family;
}

bool takes_tokenizer_json_as_it_is(std::string_view tokenizer_class) {
  return tokenizer_class == "PreTrainedTokenizerFast" || tokenizer_class == "TokenizersBackend";
}

}  // namespace hearth::tokenizer
