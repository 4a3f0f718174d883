#include <algorithm>
#include <string>
#include <utility>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/bpe.h"
#include "hearth/tokenizer/merges_file.h"
#include "hearth/tokenizer/pipeline_tokenizer.h"
#include "hearth/tokenizer/tokenizer_class.h"
#include "hearth/tokenizer/tokenizer_files.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr int kIndent = 2;

bool is_token_object(const Json& value) { return value.is_object() && value.contains("content"); }

// Calls `change` for every special token that is an object, alone or in a list.
template <class Change>
void for_each_token_object(Json& json, const Change& change) {
  for (auto& [key, value] : json.items()) {
    if (is_token_object(value)) change(value);
    if (!value.is_array()) continue;
    for (Json& item : value)
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

// Names the special tokens. A token that one of the files has as an object, with how it is found in texts, stays one.
void put_special_tokens(const PipelineConfig& config, std::initializer_list<const Json*> files, Json& json) {
  for (const auto& [name, token] : config.special_names) {
    const std::string key = name + "_token";
    json[key] = token;
    for (const Json* file : files) {
      const Json known = file->value(key, Json());
      if (!is_token_object(known) || known["content"] != token) continue;
      json[key] = known;
      break;
    }
  }
}

Json make_special_tokens_map(const PipelineConfig& config, const TokenizerFiles& read) {
  Json json = read.special_tokens_map;
  put_special_tokens(config, {&read.special_tokens_map}, json);
  if (const Json more = additional_special_tokens(read); !more.empty()) json["additional_special_tokens"] = more;
  for_each_token_object(json, [](Json& token) { token.erase("__type"); });
  return json;
}

// The settings with which transformers would otherwise override BERT's normalizer.
Json bert_settings(const PipelineConfig& config) {
  const Json normalizer = config.nodes.value("normalizer", Json());
  if (!normalizer.is_object() || normalizer["type"] != "BertNormalizer") return Json::object();
  return {{"do_lower_case", normalizer.value("lowercase", true)},
          {"strip_accents", normalizer.value("strip_accents", Json())},
          {"tokenize_chinese_chars", normalizer.value("handle_chinese_chars", true)}};
}

Json make_tokenizer_config(const PipelineConfig& config, const TokenizerFiles& read, std::string tokenizer_class) {
  Json decoder = Json::object();
  for (const AddedToken& token : config.added_tokens) decoder[std::to_string(token.id)] = make_added_token(token);
  Json json = read.settings;
  json.update({{"added_tokens_decoder", std::move(decoder)}, {"tokenizer_class", std::move(tokenizer_class)}});
  json.update(bert_settings(config));
  if (special_tokens_map_counts(read.settings))
    put_special_tokens(config, {&read.special_tokens_map, &read.settings}, json);
  else
    put_special_tokens(config, {&read.settings}, json);
  if (special_tokens_map_counts(read.settings)) complete(json, read.special_tokens_map);
  if (const Json more = additional_special_tokens(read); !more.empty()) json["additional_special_tokens"] = more;
  for_each_token_object(json, [](Json& token) { token["__type"] = "AddedToken"; });  // or transformers sees a dict
  complete(json, {{"clean_up_tokenization_spaces", false}});
  if (config.model_max_length != kUnlimited) json["model_max_length"] = config.model_max_length;
  // Paths of the machine that wrote the file; transformers would read the tokenizer from there.
  for (const char* key : {"name_or_path", "special_tokens_map_file", "tokenizer_file", "vocab_file"}) json.erase(key);
  return json;
}

Json make_tokenizer_json(const PipelineTokenizer& tokenizer) {
  Json added = Json::array();
  for (const AddedToken& token : tokenizer.config().added_tokens) {
    Json with_id = {{"id", token.id}};
    with_id.update(make_added_token(token));
    added.push_back(std::move(with_id));
  }
  Json json = tokenizer.config().nodes;
  json["added_tokens"] = std::move(added);
  tokenizer.model().write(json["model"]);
  return json;
}

// The files that transformers had before tokenizer.json, for programs that still read them.
void write_older_files(const std::filesystem::path& folder, const Model& model) {
  if (dynamic_cast<const WordPiece*>(&model)) write_vocabulary(folder / "vocab.txt", model.tokens().all());
  if (const auto* bpe = dynamic_cast<const Bpe*>(&model)) {
    io::replace_file(folder / "vocab.json", io::dump_json(make_vocab(model.tokens()), io::kOneLine) + '\n');
    write_merges(folder / "merges.txt", bpe->options().merges);
  }
}

}  // namespace

void PipelineTokenizer::save(const std::filesystem::path& folder) const {
  const auto write = [&](const char* name, const Json& json, bool sort_keys) {
    io::replace_file(folder / name, io::dump_json(json, kIndent, sort_keys) + '\n');
  };
  const TokenizerFiles read = config_.files ? *config_.files : TokenizerFiles{};
  const std::string tokenizer_class = class_to_save(config_.tokenizer_class, folder);
  io::create_directories(folder);
  write_older_files(folder, *model_);
  write("tokenizer.json", make_tokenizer_json(*this), false);
  write("tokenizer_config.json", make_tokenizer_config(config_, read, tokenizer_class), true);
  write("special_tokens_map.json", make_special_tokens_map(config_, read), true);
}

}  // namespace hearth::tokenizer
