#include <algorithm>
#include <string>
#include <utility>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/bert_tokenizer.h"
#include "hearth/tokenizer/tokenizer_class.h"
#include "hearth/tokenizer/tokenizer_files.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr int kIndent = 2;

Json special_tokens_of(const BertConfig& config) {
  return {{"cls_token", config.cls_token},
          {"mask_token", config.mask_token},
          {"pad_token", config.pad_token},
          {"sep_token", config.sep_token},
          {"unk_token", config.unk_token}};
}

bool is_token_object(const Json& value) { return value.is_object() && value.contains("content"); }

// Calls `change` for every special token that is an object, alone or in a list.
template <class Change>
void for_each_token_object(Json& json, const Change& change) {
  for (auto& [key, value] : json.items()) {
    if (is_token_object(value)) change(value);
    for (Json& item : value.is_array() ? value : Json::array())
      if (is_token_object(item)) change(item);
  }
}

// Adds the keys that are not there yet.
void complete(Json& object, const Json& others) {
  for (const auto& [key, value] : others.items())
    if (!object.contains(key)) object[key] = value;
}

Json content_of(const Json& token) { return is_token_object(token) ? token["content"] : token; }

// Those of tokenizer_config.json and those that special_tokens_map.json adds.
Json additional_special_tokens(const TokenizerFiles& read) {
  Json tokens = Json::array();
  const auto add = [&](const Json& object) {
    const Json found = object.value("additional_special_tokens", Json());
    for (const Json& token : found.is_array() ? found : Json::array())
      if (std::ranges::find(tokens, content_of(token), content_of) == tokens.end()) tokens.push_back(token);
  };
  add(read.settings);
  if (special_tokens_map_counts(read.settings)) add(read.special_tokens_map);
  return tokens;
}

// A token that was read as an object, with how it is found in texts, stays one.
Json make_special_tokens_map(const BertConfig& config, const TokenizerFiles& read) {
  Json json = read.special_tokens_map;
  const Json names = special_tokens_of(config);
  for (const auto& [key, name] : names.items()) {
    const Json known = json.value(key, Json());
    if (!known.is_object() || known.value("content", Json()) != name) json[key] = name;
  }
  if (const Json more = additional_special_tokens(read); !more.empty()) json["additional_special_tokens"] = more;
  for_each_token_object(json, [](Json& token) { token.erase("__type"); });
  return json;
}

Json make_tokenizer_config(const BertConfig& config, const TokenizerFiles& read, std::string tokenizer_class) {
  Json decoder = Json::object();
  for (const AddedToken& token : config.added_tokens) decoder[std::to_string(token.id)] = make_added_token(token);
  const NormalizerOptions& options = config.normalizer;
  Json json = read.settings;
  json.update({{"added_tokens_decoder", std::move(decoder)},
               {"do_lower_case", options.lowercase},
               {"strip_accents", options.strip_accents ? Json(*options.strip_accents) : Json()},
               {"tokenize_chinese_chars", options.handle_chinese_chars},
               {"tokenizer_class", std::move(tokenizer_class)}});
  json.update(special_tokens_of(config));
  if (special_tokens_map_counts(read.settings)) complete(json, read.special_tokens_map);
  if (const Json more = additional_special_tokens(read); !more.empty()) json["additional_special_tokens"] = more;
  for_each_token_object(json, [](Json& token) { token["__type"] = "AddedToken"; });  // or transformers sees a dict
  complete(json, {{"clean_up_tokenization_spaces", false}});
  if (config.model_max_length != kUnlimited) json["model_max_length"] = config.model_max_length;
  // Paths of the machine that wrote the file; transformers would read the tokenizer from there.
  for (const char* key : {"name_or_path", "special_tokens_map_file", "tokenizer_file", "vocab_file"}) json.erase(key);
  return json;
}

}  // namespace

void BertTokenizer::save(const std::filesystem::path& folder) const {
  const auto write = [&](const char* name, const Json& json, bool sort_keys) {
    io::replace_file(folder / name, io::dump_json(json, kIndent, sort_keys) + '\n');
  };
  const TokenizerFiles read = config_.files ? *config_.files : TokenizerFiles{};
  const std::string tokenizer_class = class_to_save(config_.tokenizer_class, folder);
  io::create_directories(folder);
  write_vocabulary(folder / "vocab.txt", config_.vocabulary);
  write("tokenizer.json", make_tokenizer_json(*this, read.tokenizer), false);
  write("tokenizer_config.json", make_tokenizer_config(config_, read, tokenizer_class), true);
  write("special_tokens_map.json", make_special_tokens_map(config_, read), true);
}

}  // namespace hearth::tokenizer
