#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/bert_tokenizer.h"
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
void read_special_token(const SettingsFile& file, std::string_view key, std::string& name, BertConfig& config) {
  const Json* value = file.find(key);
  if (!value || value->is_null()) return;
  if (value->is_object()) {
    AddedToken token = parse_special_token(*value, file.name);
    name = token.content;
    put(config.added_tokens, std::move(token));
  } else {
    name = io::get_string(file.values, key, file.name);
  }
}

void read_special_tokens(const SettingsFile& file, BertConfig& config) {
  read_special_token(file, "unk_token", config.unk_token, config);
  read_special_token(file, "sep_token", config.sep_token, config);
  read_special_token(file, "pad_token", config.pad_token, config);
  read_special_token(file, "cls_token", config.cls_token, config);
  read_special_token(file, "mask_token", config.mask_token, config);
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

void read_added_tokens_decoder(const SettingsFile& file, BertConfig& config) {
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

// added_tokens.json, from token to id: tokens that were added to a vocab.txt.
void read_added_tokens(const SettingsFile& file, BertConfig& config) {
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

// BERT's classes in transformers have defaults for these settings, which count more than tokenizer.json.
NormalizerOptions bert_defaults(const NormalizerOptions& of_tokenizer_json) {
  return {.clean_text = of_tokenizer_json.clean_text};
}

NormalizerOptions read_normalizer(const SettingsFile& file, NormalizerOptions options) {
  options.lowercase = io::get_bool_or(file.values, "do_lower_case", options.lowercase, file.name);
  options.handle_chinese_chars =
      io::get_bool_or(file.values, "tokenize_chinese_chars", options.handle_chinese_chars, file.name);
  if (const Json* accents = file.find("strip_accents"))
    options.strip_accents =
        accents->is_null() ? std::nullopt : std::optional(io::get_bool(file.values, "strip_accents", file.name));
  return options;
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  check(fs::is_directory(folder), "{} is not a folder: the tokenizer of a model is read from the model's folder",
        folder.string());
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (has("vocab.json") && has("merges.txt"))
    fail("{} holds a BPE tokenizer (vocab.json and merges.txt); only WordPiece is supported so far", folder.string());
  for (const char* name : {"spiece.model", "spm.model", "sentencepiece.bpe.model", "tokenizer.model"})
    if (has(name))
      fail("{} holds a SentencePiece tokenizer ({}); only WordPiece is supported so far", folder.string(), name);
  fail("{} holds no tokenizer: neither tokenizer.json nor vocab.txt is there", folder.string());
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const fs::path& folder) {
  const fs::path vocab_txt = folder / "vocab.txt";
  SettingsFile whole(folder / "tokenizer.json"), settings(folder / "tokenizer_config.json"),
      names(folder / "special_tokens_map.json");
  BertConfig config;
  if (whole.exists) {
    config = parse_tokenizer_json(whole.values, whole.name);
    whole.values = without_rewritten_nodes(std::move(whole.values));
  } else if (fs::exists(vocab_txt)) {
    config.vocabulary = read_vocabulary(vocab_txt);
    config.source = vocab_txt.string();
    read_added_tokens(SettingsFile(folder / "added_tokens.json"), config);
  } else {
    refuse_folder(folder);
  }
  const std::string named =
      io::get_string_or(settings.values, "tokenizer_class", class_of_model(folder), settings.name);
  if (!named.empty()) config.tokenizer_class = named;
  if (!(whole.exists && takes_tokenizer_json_as_it_is(named)))
    config.normalizer = read_normalizer(settings, named.empty() ? config.normalizer : bert_defaults(config.normalizer));
  read_added_tokens_decoder(settings, config);
  read_special_tokens(settings, config);
  if (special_tokens_map_counts(settings.values)) read_special_tokens(names, config);
  config.model_max_length = read_model_max_length(settings);
  check(io::get_string_or(settings.values, "padding_side", "right", settings.name) == "right",
        "{}: \"padding_side\" must be \"right\"; padding on the left is for decoders", settings.name);
  config.files = std::make_shared<TokenizerFiles>(
      TokenizerFiles{std::move(whole.values), std::move(settings.values), std::move(names.values)});
  return std::make_shared<BertTokenizer>(std::move(config));
}

std::shared_ptr<const Tokenizer> load_vocabulary(const fs::path& file, bool lowercase) {
  BertConfig config;
  config.vocabulary = read_vocabulary(file);
  config.source = file.string();
  config.normalizer.lowercase = lowercase;
  return std::make_shared<BertTokenizer>(std::move(config));
}

}  // namespace hearth::tokenizer
