#include "hearth/tokenizer/tokenizer_json.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

Json make_part(std::string_view spelled) {
  int type_id = 0;
  if (spelled.ends_with(":0") || spelled.ends_with(":1")) {
    type_id = spelled.back() - '0';
    spelled.remove_suffix(2);
  }
  const bool is_text = spelled.starts_with('$');
  if (is_text) spelled.remove_prefix(1);
  return {{is_text ? "Sequence" : "SpecialToken", {{"id", spelled}, {"type_id", type_id}}}};
}

Json make_parts(const std::vector<std::string>& spelled) {
  Json parts = Json::array();
  for (const std::string& part : spelled) parts.push_back(make_part(part));
  return parts;
}

}  // namespace

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

Json make_tokenizer_json(Nodes nodes) {
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", Json::array()},
          {"normalizer", std::move(nodes.normalizer)},
          {"pre_tokenizer", std::move(nodes.pre_tokenizer)},
          {"post_processor", std::move(nodes.post_processor)},
          {"decoder", std::move(nodes.decoder)},
          {"model", std::move(nodes.model)}};
}

Json make_template(const std::vector<std::string>& single, const std::vector<std::string>& pair,
                   const std::vector<TokenId>& tokens) {
  Json special = Json::object();
  for (const auto& [token, id] : tokens)
    special[token] = {{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}};
  return {{"type", "TemplateProcessing"},
          {"single", make_parts(single)},
          {"pair", make_parts(pair)},
          {"special_tokens", std::move(special)}};
}

Json make_byte_level(bool add_prefix_space, bool trim_offsets, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", trim_offsets},
          {"use_regex", use_regex}};
}

Json make_bert_normalizer(const NormalizerOptions& options) {
  return {{"type", "BertNormalizer"},
          {"clean_text", options.clean_text},
          {"handle_chinese_chars", options.handle_chinese_chars},
          {"strip_accents", options.strip_accents ? Json(*options.strip_accents) : Json()},
          {"lowercase", options.lowercase}};
}

Json make_bert_json(Vocabulary vocabulary, const NormalizerOptions& options, const SpecialNames& names,
                    const std::string& source) {
  const TokenTable tokens(std::move(vocabulary));
  const auto special = [&](const char* name) -> TokenId {
    const std::string& token = names.at(name);
    const std::int32_t id = tokens.find(token);
    check(id != TokenTable::kNoToken, "{} has no token \"{}\", which a BERT tokenizer cannot do without", source,
          token);
    return {token, id};
  };
  const TokenId unk = special("unk"), cls = special("cls"), sep = special("sep");
  Nodes nodes;
  nodes.normalizer = make_bert_normalizer(options);
  nodes.pre_tokenizer = {{"type", "BertPreTokenizer"}};
  nodes.post_processor =
      make_template({cls.first, "$A", sep.first}, {cls.first, "$A", sep.first, "$B:1", sep.first + ":1"}, {cls, sep});
  nodes.decoder = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  nodes.model = {{"type", "WordPiece"},
                 {"unk_token", unk.first},
                 {"continuing_subword_prefix", "##"},
                 {"max_input_chars_per_word", 100}};
  nodes.model["vocab"] = make_vocab(tokens);
  return make_tokenizer_json(std::move(nodes));
}

}  // namespace hearth::tokenizer
