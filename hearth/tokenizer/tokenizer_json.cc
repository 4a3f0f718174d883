#include "hearth/tokenizer/tokenizer_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr std::int64_t kMostGaps = 1 << 20;  // ids that no token of a vocabulary has

constexpr bool kMergeObjects = true;  // Json::update of an object within an object keeps its other keys

const Json& member(const Json& object, std::string_view key, const std::string& file) {
  check(object.is_object() && object.contains(key), "{} has no \"{}\"", file, key);
  return object[key];
}

std::string type_of(const Json& value, const std::string& file) {
  if (!value.is_object()) return value.is_null() ? "missing" : "not an object";
  return io::get_string_or(value, "type", "of an unnamed type", file);
}

// The first versions of the tokenizers library left the model's type out.
std::string model_type(const Json& model, const std::string& file) {
  if (model.is_object() && !model.contains("type")) {
    if (model.contains("max_input_chars_per_word")) return "WordPiece";
    if (model.contains("merges")) return "BPE";
  }
  return type_of(model, file);
}

Vocabulary read_vocab(const Json& model, const std::string& file) {
  const Json& vocab = member(model, "vocab", file);
  check(vocab.is_object() && !vocab.empty(), "{}: the model's \"vocab\" holds no tokens", file);
  const std::int64_t end = std::min<std::int64_t>(kMaxVocabulary, std::ssize(vocab) + kMostGaps);
  Vocabulary vocabulary(vocab.size());
  for (const auto& [token, value] : vocab.get_ref<const Json::object_t&>()) {
    const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    check(0 <= id && id < end, "{}: the id of token {} is not a whole number under {}", file,
          io::dump_json(token, io::kOneLine), end);
    if (static_cast<std::size_t>(id) >= vocabulary.size()) vocabulary.resize(static_cast<std::size_t>(id) + 1);
    vocabulary[static_cast<std::size_t>(id)] = token;
  }
  return vocabulary;
}

// "[CLS]:0 $A:0 [SEP]:0" and the like.
std::string spell_template(const Json& parts) {
  std::string spelling;
  for (const Json& part : parts) {
    const bool sequence = part.contains("Sequence");
    const Json& body = part.at(sequence ? "Sequence" : "SpecialToken");
    spelling += fmt::format("{}{}{}:{}", spelling.empty() ? "" : " ", sequence ? "$" : "",
                            body.at("id").get<std::string>(), body.at("type_id").get<int>());
  }
  return spelling;
}

// Reads the names of the tokens around texts; their order must be BERT's.
void read_post_processor(const Json& json, const std::string& file, BertConfig& config) {
  const auto processor = json.find("post_processor");
  if (processor == json.end() || processor->is_null()) return;
  const std::string type = type_of(*processor, file);
  try {
    if (type == "BertProcessing") {
      config.cls_token = processor->at("cls").at(0).get<std::string>();
      config.sep_token = processor->at("sep").at(0).get<std::string>();
      return;
    }
    check(type == "TemplateProcessing", "{} has the post-processor {}; only BERT's is supported so far", file, type);
    const Json& single = processor->at("single");
    config.cls_token = single.at(0).at("SpecialToken").at("id").get<std::string>();
    config.sep_token = single.at(single.size() - 1).at("SpecialToken").at("id").get<std::string>();
    const auto& [cls, sep] = std::pair(config.cls_token, config.sep_token);
    const std::string expected = fmt::format("{}:0 $A:0 {}:0", cls, sep);
    const std::string expected_pair = fmt::format("{} $B:1 {}:1", expected, sep);
    const std::string found = spell_template(single), found_pair = spell_template(processor->at("pair"));
    check(found == expected && found_pair == expected_pair,
          "{} builds texts as \"{}\" and pairs as \"{}\"; only BERT's way, \"{}\" and \"{}\", is supported so far",
          file, found, found_pair, expected, expected_pair);
  } catch (const Json::exception&) {
    fail("{}: \"post_processor\" is not one that BERT's tokenizer has", file);
  }
}

Json special_part(const std::string& token, int type_id) {
  return {{"SpecialToken", {{"id", token}, {"type_id", type_id}}}};
}

Json sequence_part(const char* name, int type_id) { return {{"Sequence", {{"id", name}, {"type_id", type_id}}}}; }

Json make_post_processor(const BertConfig& config, std::int32_t cls_id, std::int32_t sep_id) {
  const auto entry = [](const std::string& token, std::int32_t id) {
    return Json{{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}};
  };
  const auto& [cls, sep] = std::pair(config.cls_token, config.sep_token);
  const Json single = Json::array({special_part(cls, 0), sequence_part("A", 0), special_part(sep, 0)});
  Json pair = single;
  pair.push_back(sequence_part("B", 1));
  pair.push_back(special_part(sep, 1));
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", {{cls, entry(cls, cls_id)}, {sep, entry(sep, sep_id)}}}};
}

Json make_normalizer(const NormalizerOptions& options) {
  return {{"type", "BertNormalizer"},
          {"clean_text", options.clean_text},
          {"handle_chinese_chars", options.handle_chinese_chars},
          {"strip_accents", options.strip_accents ? Json(*options.strip_accents) : Json()},
          {"lowercase", options.lowercase}};
}

// Filled by hand, because every insertion through Json searches all keys.
Json make_vocab(const BertTokenizer& tokenizer) {
  Json vocab = Json::object();
  auto& members = vocab.get_ref<Json::object_t&>();
  const Vocabulary& vocabulary = tokenizer.config().vocabulary;
  for (std::size_t id = 0; id < vocabulary.size(); ++id)
    if (tokenizer.model_id(vocabulary[id]) == static_cast<std::int32_t>(id)) members.emplace_back(vocabulary[id], id);
  return vocab;
}

}  // namespace

BertConfig parse_tokenizer_json(const Json& json, const std::string& file) {
  const Json& model = member(json, "model", file);
  if (const std::string type = model_type(model, file); type != "WordPiece")
    fail("{} holds a tokenizer of the type {}; only WordPiece is supported so far", file, type);
  const Json& normalizer = member(json, "normalizer", file);
  check(type_of(normalizer, file) == "BertNormalizer",
        "{} has a normalizer that is {}; only BertNormalizer is supported so far", file, type_of(normalizer, file));
  const Json& splitter = member(json, "pre_tokenizer", file);
  check(type_of(splitter, file) == "BertPreTokenizer",
        "{} has a pre-tokenizer that is {}; only BertPreTokenizer is supported so far", file, type_of(splitter, file));

  BertConfig config;
  config.source = file;
  config.vocabulary = read_vocab(model, file);
  config.unk_token = io::get_string_or(model, "unk_token", config.unk_token, file);
  config.continuing_subword_prefix =
      io::get_string_or(model, "continuing_subword_prefix", config.continuing_subword_prefix, file);
  config.max_input_chars_per_word =
      io::get_int_or(model, "max_input_chars_per_word", config.max_input_chars_per_word, file);
  NormalizerOptions& options = config.normalizer;
  options.clean_text = io::get_bool_or(normalizer, "clean_text", options.clean_text, file);
  options.handle_chinese_chars =
      io::get_bool_or(normalizer, "handle_chinese_chars", options.handle_chinese_chars, file);
  options.lowercase = io::get_bool_or(normalizer, "lowercase", options.lowercase, file);
  if (normalizer.contains("strip_accents") && !normalizer["strip_accents"].is_null())
    options.strip_accents = io::get_bool(normalizer, "strip_accents", file);
  if (const auto tokens = json.find("added_tokens"); tokens != json.end() && tokens->is_array())
    for (const Json& token : *tokens) config.added_tokens.push_back(parse_added_token(token, file));
  read_post_processor(json, file, config);
  return config;
}

AddedToken parse_added_token(const Json& value, std::string_view file) {
  check(value.is_object(), "{}: an added token is not an object", file);
  AddedToken token;
  token.content = io::get_string(value, "content", file);
  const std::int64_t id = io::get_int_or(value, "id", -1, file);
  check(id < kMaxVocabulary, "{}: the id {} of \"{}\" is not under {}", file, id, token.content, kMaxVocabulary);
  token.id = static_cast<std::int32_t>(std::max(id, std::int64_t{-1}));
  token.single_word = io::get_bool_or(value, "single_word", false, file);
  token.lstrip = io::get_bool_or(value, "lstrip", false, file);
  token.rstrip = io::get_bool_or(value, "rstrip", false, file);
  token.special = io::get_bool_or(value, "special", false, file);
  token.normalized = io::get_bool_or(value, "normalized", !token.special, file);
  return token;
}

Json make_added_token(const AddedToken& token) {
  return {{"content", token.content}, {"single_word", token.single_word}, {"lstrip", token.lstrip},
          {"rstrip", token.rstrip},   {"normalized", token.normalized},   {"special", token.special}};
}

Json without_rewritten_nodes(Json json) {
  json["added_tokens"] = nullptr;
  json["post_processor"] = nullptr;
  json["model"]["vocab"] = nullptr;
  return json;
}

Json make_tokenizer_json(const BertTokenizer& tokenizer, Json read) {
  const BertConfig& config = tokenizer.config();
  Json added = Json::array();
  for (const AddedToken& token : config.added_tokens) {
    Json with_id = {{"id", token.id}};
    with_id.update(make_added_token(token));
    added.push_back(std::move(with_id));
  }
  Json json = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}};
  json.update(read);
  json.update({{"added_tokens", std::move(added)},
               {"normalizer", make_normalizer(config.normalizer)},
               {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
               {"post_processor", make_post_processor(config, tokenizer.cls_id(), tokenizer.sep_id())},
               {"model",
                {{"type", "WordPiece"},
                 {"unk_token", config.unk_token},
                 {"continuing_subword_prefix", config.continuing_subword_prefix},
                 {"max_input_chars_per_word", config.max_input_chars_per_word}}}},
              kMergeObjects);
  json["model"]["vocab"] = make_vocab(tokenizer);  // merging would search for every token
  if (!json.contains("decoder") || json["decoder"].is_null())
    json["decoder"] = {{"type", "WordPiece"}, {"prefix", config.continuing_subword_prefix}, {"cleanup", true}};
  return json;
}

}  // namespace hearth::tokenizer
