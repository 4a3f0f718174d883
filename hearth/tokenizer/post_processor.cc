#include "hearth/tokenizer/post_processor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/node_table.h"
#include "hearth/tokenizer/token_table.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr std::int32_t kMostTypes = 256;

// ["[CLS]", 101]
PostProcessor::Part read_token(const Json& node, std::string_view key, const std::string& where) {
  const auto value = node.find(key);
  const bool is_token = value != node.end() && value->is_array() && value->size() == 2 && (*value)[0].is_string() &&
                        (*value)[1].is_number_integer();
  check(is_token, "{}: \"{}\" must be a token and its id", where, key);
  const auto id = (*value)[1].get<std::int64_t>();
  check(0 <= id && id < kMaxVocabulary, "{}: the id {} of \"{}\" is not under {}", where, id, key, kMaxVocabulary);
  return {.name = (*value)[0].get<std::string>(), .ids = {static_cast<std::int32_t>(id)}};
}

PostProcessor::Part with_type(PostProcessor::Part part, std::int32_t type_id) {
  part.type_id = type_id;
  return part;
}

std::vector<std::int32_t> read_ids(const Json& node, const std::string& name, const std::string& where) {
  const auto tokens = node.find("special_tokens");
  const bool is_known = tokens != node.end() && tokens->is_object() && tokens->contains(name);
  check(is_known, "{}: \"special_tokens\" does not have {}, which the template names", where, io::excerpt(name));
  std::vector<std::int32_t> ids;
  const Json list = (*tokens)[name].value("ids", Json());
  check(list.is_array(), "{}: the special token {} has no \"ids\"", where, io::excerpt(name));
  const Json texts = (*tokens)[name].value("tokens", list);
  check(texts.is_array() && texts.size() == list.size(),
        "{}: \"ids\" and \"tokens\" of the special token {} are not lists of the same length", where,
        io::excerpt(name));
  for (const Json& id : list) {
    const bool is_id = id.is_number_integer() && 0 <= id.get<std::int64_t>() && id.get<std::int64_t>() < kMaxVocabulary;
    check(is_id, "{}: an id of the special token {} is not under {}", where, io::excerpt(name), kMaxVocabulary);
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

PostProcessor::Part read_part(const Json& node, const Json& part, const std::string& where) {
  const bool is_text = part.is_object() && part.contains("Sequence");
  check(is_text || (part.is_object() && part.contains("SpecialToken")),
        "{}: a part of a template is neither a \"Sequence\" nor a \"SpecialToken\": {}", where, io::excerpt(part));
  const Json& body = part[is_text ? "Sequence" : "SpecialToken"];
  check(body.is_object(), "{}: a part of a template is not an object: {}", where, io::excerpt(part));
  const auto type_id = static_cast<std::int32_t>(io::get_int_within(body, "type_id", 0, kMostTypes - 1, where));
  const std::string name = io::get_string(body, "id", where);
  if (!is_text) return {.type_id = type_id, .name = name, .ids = read_ids(node, name, where)};
  check(name == "A" || name == "B", "{}: a template has the texts A and B, found {}", where, name);
  return {.text = name == "A" ? 0 : 1, .type_id = type_id};
}

PostProcessor::Template read_parts(const Json& node, std::string_view key, const std::string& where) {
  const auto list = node.find(key);
  check(list != node.end() && list->is_array(), "{}: \"{}\" must be a list", where, key);
  PostProcessor::Template parts;
  for (const Json& part : *list) parts.push_back(read_part(node, part, where));
  return parts;
}

bool has_text(const PostProcessor::Template& parts, int text) {
  return std::ranges::find(parts, text, &PostProcessor::Part::text) != parts.end();
}

}  // namespace

PostProcessor::PostProcessor(const Json& node, const std::string& where) { read(node, where); }

void PostProcessor::read(const Json& node, const std::string& where) {
  struct Type {
    std::string_view name;
    void (PostProcessor::*read)(const Json& node, const std::string& where);
  };
  static constexpr Type kTypes[] = {{"BertProcessing", &PostProcessor::read_around},
                                    {"ByteLevel", &PostProcessor::read_trimming},
                                    {"RobertaProcessing", &PostProcessor::read_around},
                                    {"Sequence", &PostProcessor::read_sequence},
                                    {"TemplateProcessing", &PostProcessor::read_template}};
  const std::string type = type_of_node(node, where);
  const auto known = std::ranges::find(kTypes, type, &Type::name);
  check(known != std::end(kTypes), "{} {} is not supported", where, type);
  (this->*known->read)(node, name_of_node(where, type));
}

// [CLS] A [SEP] B [SEP] of BERT, <s> A </s> </s> B </s> of RoBERTa, whose tokens are all of type 0.
void PostProcessor::read_around(const Json& node, const std::string& where) {
  const Part cls = read_token(node, "cls", where), sep = read_token(node, "sep", where);
  const bool is_roberta = io::get_string(node, "type", where) == "RobertaProcessing";
  const Template single = {cls, {.text = 0}, sep};
  Template pair = single;
  if (is_roberta) pair.push_back(sep);
  const std::int32_t type_id = is_roberta ? 0 : 1;
  pair.push_back({.text = 1, .type_id = type_id});
  pair.push_back(with_type(sep, type_id));
  set_templates(single, std::move(pair), where);
  if (is_roberta) read_trimming(node, where);
}

void PostProcessor::read_template(const Json& node, const std::string& where) {
  Template single = read_parts(node, "single", where), pair = read_parts(node, "pair", where);
  check(!has_text(single, 1), "{}: \"single\" names the text B", where);
  check(has_text(pair, 0) && has_text(pair, 1), "{}: \"pair\" must name the texts A and B", where);
  set_templates(std::move(single), std::move(pair), where);
}

void PostProcessor::read_sequence(const Json& node, const std::string& where) {
  for (const Json& step : nodes_of(node, "processors", where)) read(step, where);
}

void PostProcessor::read_trimming(const Json& node, const std::string& where) {
  const bool add_prefix_space = io::get_bool_or(node, "add_prefix_space", true, where);
  if (io::get_bool_or(node, "trim_offsets", true, where)) trimming_ = Trimming{add_prefix_space};
}

void PostProcessor::set_templates(Template single, Template pair, const std::string& where) {
  check(!has_template_, "{}: only one post-processor of a sequence can add special tokens", where);
  has_template_ = true;
  single_ = std::move(single);
  pair_ = std::move(pair);
}

std::int64_t PostProcessor::special_tokens(bool pair) const {
  std::int64_t count = 0;
  for (const Part& part : pair ? pair_ : single_) count += std::ssize(part.ids);
  return count;
}

void PostProcessor::check_ids(std::int64_t vocab_size, const std::string& where) const {
  for (const Template* parts : {&single_, &pair_})
    for (const Part& part : *parts)
      for (const std::int32_t id : part.ids)
        check(id < vocab_size, "{}: the special token {} has the id {}, but the vocabulary has {} tokens", where,
              io::excerpt(part.name), id, vocab_size);
}

std::optional<std::string> PostProcessor::first_special() const {
  if (single_.empty() || single_.front().ids.empty()) return std::nullopt;
  return single_.front().name;
}

std::optional<std::string> PostProcessor::last_special() const {
  if (single_.empty() || single_.back().ids.empty()) return std::nullopt;
  return single_.back().name;
}

Encoding PostProcessor::build(const Template& parts, const Texts& texts) const {
  std::size_t size = 0;
  for (const Part& part : parts)
    size += part.text < 0 ? part.ids.size() : texts[static_cast<std::size_t>(part.text)]->ids.size();
  Encoding encoding;
  encoding.ids.reserve(size);
  encoding.type_ids.reserve(size);
  encoding.offsets.reserve(size);
  encoding.sequence.reserve(size);
  for (const Part& part : parts) {
    const std::size_t begin = encoding.ids.size();
    if (part.text < 0) {
      encoding.ids.insert(encoding.ids.end(), part.ids.begin(), part.ids.end());
      encoding.offsets.resize(encoding.ids.size());
    } else {
      const TokenizedText& text = *texts[static_cast<std::size_t>(part.text)];
      encoding.ids.insert(encoding.ids.end(), text.ids.begin(), text.ids.end());
      encoding.offsets.insert(encoding.offsets.end(), text.offsets.begin(), text.offsets.end());
      if (trimming_) trim(begin, encoding);
    }
    encoding.type_ids.resize(encoding.ids.size(), part.type_id);
    encoding.sequence.resize(encoding.ids.size(), static_cast<std::int8_t>(part.text));
  }
  return encoding;
}

void PostProcessor::trim(std::size_t begin, Encoding& encoding) const {
  for (std::size_t i = begin; i < encoding.ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(encoding.ids[i]);
    if (id < spaces_.size()) encoding.offsets[i] = trimmed(encoding.offsets[i], spaces_[id], i == begin, *trimming_);
  }
}

Offset PostProcessor::trimmed(Offset offset, Spaces spaces, bool is_first, const Trimming& trimming) {
  const auto [leading, trailing] = spaces;
  const bool was_added = (is_first || offset.begin == 0) && trimming.add_prefix_space && leading == 1;
  if (leading > 0 && !was_added) offset.begin = std::min(offset.begin + leading, offset.end);
  if (trailing > 0 && offset.end >= trailing) offset.end = std::max(offset.end - trailing, offset.begin);
  return offset;
}

PostProcessor::Spaces PostProcessor::spaces_of(std::string_view token) {
  const char32_t space = character_of_byte(' ');
  Spaces spaces;
  bool is_leading = true;
  for (std::size_t at = 0; at < token.size();) {
    const char32_t c = read_code_point(token, at);
    const bool is_space = c == space || has_trait(c, kSpace);
    is_leading = is_leading && is_space;
    spaces.leading += is_leading ? 1 : 0;
    spaces.trailing = is_space ? spaces.trailing + 1 : 0;
  }
  return spaces;
}

}  // namespace hearth::tokenizer
