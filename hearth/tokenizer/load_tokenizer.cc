#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/older_files.h"
#include "hearth/tokenizer/pipeline_tokenizer.h"
#include "hearth/tokenizer/settings_file.h"
#include "hearth/tokenizer/tokenizer_class.h"
#include "hearth/tokenizer/tokenizer_files.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {
namespace {

namespace fs = std::filesystem;
using io::Json;

void put(std::vector<AddedToken>& tokens, AddedToken token) {
  const auto same = std::ranges::find(tokens, token.content, &AddedToken::content);
  if (same == tokens.end()) {
    tokens.push_back(std::move(token));
  } else {
    token.id = same->id;
    *same = std::move(token);
  }
}

AddedToken parse_special_token(const Json& value, std::string_view file) {
  if (value.is_string()) return {.content = value.get<std::string>()};
  AddedToken token = parse_added_token(value, file);
  token.special = true;
  if (!value.contains("normalized")) token.normalized = false;
  return token;
}

// A token is a string, or an object that also says how the token is found in texts.
void read_special_token(const SettingsFile& file, const std::string& name, PipelineConfig& config) {
  const std::string key = name + "_token";
  const Json* value = file.find(key);
  if (!value || value->is_null()) return;
  if (value->is_object()) {
    AddedToken token = parse_special_token(*value, file.name);
    config.special_names[name] = token.content;
    put(config.added_tokens, std::move(token));
  } else {
    config.special_names[name] = io::get_string(file.values, key, file.name);
  }
}

// Classes whose mask token includes the spaces before it say so themselves, unless a file has the token as an object.
void put_mask(const TokenizerClass* known, std::initializer_list<const SettingsFile*> files, PipelineConfig& config) {
  if (!known || !known->mask_takes_spaces) return;
  std::string mask = known->special_names.at("mask");
  for (const SettingsFile* file : files)
    if (const Json* value = file->find("mask_token"); value && value->is_string()) mask = value->get<std::string>();
  put(config.added_tokens, {.content = mask, .lstrip = true});
}

void read_special_tokens(const SettingsFile& file, PipelineConfig& config) {
  for (const char* name : kSpecialNames) read_special_token(file, name, config);
  for (const std::string_view key : {"additional_special_tokens", "extra_special_tokens"}) {
    const Json* values = file.find(key);
    if (!values || !values->is_array()) continue;
    for (const Json& value : *values) {
      AddedToken token = parse_special_token(value, file.name);
      const auto& known = config.added_tokens;
      if (value.is_object() || std::ranges::find(known, token.content, &AddedToken::content) == known.end())
        put(config.added_tokens, std::move(token));
    }
  }
}

void read_added_tokens_decoder(const SettingsFile& file, PipelineConfig& config) {
  const Json* tokens = file.find("added_tokens_decoder");
  if (!tokens || !tokens->is_object()) return;
  for (const auto& [id, value] : tokens->items()) {
    AddedToken token = parse_added_token(value, file.name);
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), token.id);
    check(error == std::errc{} && end == id.data() + id.size() && 0 <= token.id && token.id < kMaxVocabulary,
          "{}: \"{}\" in \"added_tokens_decoder\" is not a token id", file.name, id);
    put(config.added_tokens, std::move(token));
  }
}

// added_tokens.json, from token to id: tokens that were added to the vocabulary of older files.
void read_added_tokens(const SettingsFile& file, PipelineConfig& config) {
  for (const auto& [content, id] : file.values.items()) {
    check(id.is_number_unsigned() && id.get<std::uint64_t>() < kMaxVocabulary, "{}: the id of \"{}\" is not under {}",
          file.name, content, kMaxVocabulary);
    put(config.added_tokens, {.id = id.get<std::int32_t>(), .content = content, .normalized = true, .special = false});
  }
}

std::int64_t read_model_max_length(const SettingsFile& file) {
  const Json* value = file.find("model_max_length");
  if (!value || value->is_null()) return kUnlimited;
  check(value->is_number() && value->get<double>() >= 1, "{}: \"model_max_length\" is not a number of tokens",
        file.name);
  return value->get<double>() >= static_cast<double>(kUnlimited) ? kUnlimited : value->get<std::int64_t>();
}

Json* node_of_type(Json& nodes, std::string_view key, std::string_view type) {
  const auto node = nodes.find(key);
  const bool is_it = node != nodes.end() && node->is_object() && node->value("type", Json()) == type;
  return is_it ? &*node : nullptr;
}

// BERT's classes have defaults for these settings, which count more than tokenizer.json.
void apply_bert_settings(const SettingsFile& file, bool has_defaults, Json& normalizer) {
  const auto set = [&](const char* key, const char* setting, const Json& otherwise) {
    const Json* value = file.find(setting);
    if (value && !value->is_null())
      normalizer[key] = io::get_bool(file.values, setting, file.name);
    else if (has_defaults)
      normalizer[key] = otherwise;
    else if (value && std::string_view(setting) == "strip_accents")
      normalizer[key] = nullptr;
  };
  set("lowercase", "do_lower_case", true);
  set("handle_chinese_chars", "tokenize_chinese_chars", true);
  set("strip_accents", "strip_accents", nullptr);
}

// Byte-level classes: add_prefix_space counts more than tokenizer.json, and false is its default.
void apply_prefix_space(const SettingsFile& file, Conversion conversion, Json& nodes) {
  const bool adds = io::get_bool_or(file.values, "add_prefix_space", false, file.name);
  if (Json* node = node_of_type(nodes, "pre_tokenizer", "ByteLevel")) (*node)["add_prefix_space"] = adds;
  if (conversion != Conversion::roberta) return;
  if (Json* node = node_of_type(nodes, "post_processor", "RobertaProcessing")) {
    (*node)["add_prefix_space"] = adds;
    (*node)["trim_offsets"] = io::get_bool_or(file.values, "trim_offsets", true, file.name);
  }
}

void apply_settings(const SettingsFile& file, const std::string& named, PipelineConfig& config) {
  const TokenizerClass* known = find_class(named);
  if (known && known->conversion == Conversion::none) return;
  if (Json* node = node_of_type(config.nodes, "normalizer", "BertNormalizer"))
    apply_bert_settings(file, known != nullptr, *node);
  if (known) apply_prefix_space(file, known->conversion, config.nodes);
}

bool tells_words_by_spaces(Conversion conversion) {
  return conversion == Conversion::roberta || conversion == Conversion::gpt2 || conversion == Conversion::deberta;
}

void read_tokenizer_json(SettingsFile& file, PipelineConfig& config) {
  config.source = file.name;
  config.nodes = std::move(file.values);
  config.read_from_json = true;
  check(config.nodes.contains("model"), "{} has no \"model\"", file.name);
  if (const auto tokens = config.nodes.find("added_tokens"); tokens != config.nodes.end() && tokens->is_array())
    for (const Json& token : *tokens) config.added_tokens.push_back(parse_added_token(token, file.name));
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const fs::path& folder, const LoadOptions& options) {
  SettingsFile whole(folder / "tokenizer.json"), settings(folder / "tokenizer_config.json"),
      names(folder / "special_tokens_map.json");
  PipelineConfig config;
  std::string named = io::get_string_or(settings.values, "tokenizer_class", class_of_model(folder), settings.name);
  if (named.empty() && !whole.exists) named = class_of_older_files(folder);
  if (!named.empty()) config.tokenizer_class = named;
  const TokenizerClass* known = find_class(named);
  if (known) config.special_names = known->special_names;
  if (options.takes_words && known && tells_words_by_spaces(known->conversion))
    settings.values["add_prefix_space"] = true;
  if (whole.exists) {
    read_tokenizer_json(whole, config);
  } else {
    read_added_tokens(SettingsFile(folder / "added_tokens.json"), config);
  }
  read_added_tokens_decoder(settings, config);
  if (special_tokens_map_counts(settings.values)) {
    put_mask(known, {&settings, &names}, config);
    read_special_tokens(settings, config);
    read_special_tokens(names, config);
  } else {
    put_mask(known, {&settings}, config);
    read_special_tokens(settings, config);
  }
  if (!whole.exists) config.nodes = convert_older_files(folder, settings, config);
  add_special_tokens(config);
  apply_settings(settings, named, config);
  if (named.empty() && !node_of_type(config.nodes, "normalizer", "BertNormalizer"))
    config.tokenizer_class = "PreTrainedTokenizerFast";  // takes tokenizer.json as it stands
  config.model_max_length = read_model_max_length(settings);
  check(io::get_string_or(settings.values, "padding_side", "right", settings.name) == "right",
        "{}: \"padding_side\" must be \"right\"; padding on the left is for decoders", settings.name);
  config.files = std::make_shared<TokenizerFiles>(TokenizerFiles{std::move(settings.values), std::move(names.values)});
  return std::make_shared<PipelineTokenizer>(std::move(config));
}

std::shared_ptr<const Tokenizer> load_vocabulary(const fs::path& file, bool lowercase) {
  return std::make_shared<PipelineTokenizer>(
      bert_config(read_vocabulary(file), {.lowercase = lowercase}, file.string()));
}

}  // namespace hearth::tokenizer
