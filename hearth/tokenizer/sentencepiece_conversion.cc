#include "hearth/tokenizer/sentencepiece_conversion.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/base64.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/metaspace.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/unigram.h"

namespace hearth::tokenizer {
namespace {

using io::Json;
using Kind = SentencePieceModel::Kind;
using Type = SentencePieceModel::Type;

constexpr std::string_view kSpace = "\u2581";
constexpr int kExtraIds = 100;  // special tokens of T5
std::string extra_id(int number) { return fmt::format("<extra_id_{}>", number); }

void append_pieces(const SentencePieceModel& model, std::size_t first, std::vector<ScoredToken>& tokens) {
  for (std::size_t i = first; i < model.pieces.size(); ++i)
    tokens.push_back({model.pieces[i].text, static_cast<double>(model.pieces[i].score)});
}

// ALBERT would rather cut "1," than have it as a token.
bool is_digit_and_comma(std::string_view text) {
  return text.size() >= 2 && text.back() == ',' && '0' <= text[text.size() - 2] && text[text.size() - 2] <= '9';
}

std::vector<ScoredToken> tokens_of(const SentencePieceModel& model, Conversion conversion) {
  std::vector<ScoredToken> tokens;
  switch (conversion) {
    case Conversion::xlm_roberta:
      tokens = {{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}};
      append_pieces(model, 3, tokens);
      tokens.push_back({"<mask>"});
      break;
    case Conversion::camembert:
      tokens = {{"<s>NOTUSED"}, {"<pad>"}, {"</s>NOTUSED"}, {"<unk>"}, {"<unk>NOTUSED", -100}};
      append_pieces(model, 1, tokens);
      tokens.push_back({"<mask>"});
      break;
    case Conversion::llama:
      append_pieces(model, 0, tokens);
      for (std::size_t i = 0; i < std::min<std::size_t>(3, tokens.size()); ++i) tokens[i].score = 0;
      break;
    case Conversion::t5:
      append_pieces(model, 0, tokens);
      for (int i = kExtraIds - 1; i >= 0; --i) tokens.push_back({extra_id(i)});
      break;
    default:
      append_pieces(model, 0, tokens);
      if (conversion == Conversion::albert)
        for (ScoredToken& token : tokens)
          if (is_digit_and_comma(token.text)) token.score -= 100;
  }
  return tokens;
}

// Every way to make a token of two others is a merge: those of better tokens first, then those of longer parts.
Json make_merges(const SentencePieceModel& model, const std::vector<ScoredToken>& tokens) {
  struct Merge {
    double score;
    std::int32_t left_length, right_length;
    std::size_t left_id, right_id;
    std::string_view left, right;
  };
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) ids[model.pieces[id].text] = id;
  std::vector<Merge> merges;
  for (const auto& [text, score] : tokens) {
    const std::size_t first = merges.size();
    const std::int32_t length = count_code_points(text);
    std::int32_t left_length = 0;
    for (std::size_t at = 0; at < text.size();) {
      read_code_point(text, at);
      ++left_length;
      if (at == text.size()) break;
      const std::string_view left = std::string_view(text).substr(0, at), right = std::string_view(text).substr(at);
      const auto left_id = ids.find(left), right_id = ids.find(right);
      if (left_id == ids.end() || right_id == ids.end()) continue;
      merges.push_back({score, left_length, length - left_length, left_id->second, right_id->second, left, right});
    }
    std::sort(merges.begin() + static_cast<std::ptrdiff_t>(first), merges.end(), [](const Merge& a, const Merge& b) {
      return std::tuple(a.left_id, a.right_id) < std::tuple(b.left_id, b.right_id);
    });
  }
  std::ranges::stable_sort(merges, std::greater<>{}, [](const Merge& merge) {
    return std::tuple(merge.score, merge.left_length, merge.right_length);
  });
  Json json = Json::array();
  for (const Merge& merge : merges) json.push_back(Json::array({merge.left, merge.right}));
  return json;
}

Json make_unigram_node(const std::vector<ScoredToken>& tokens, std::int32_t unk_id, bool byte_fallback) {
  Json vocab = Json::array();
  for (const auto& [text, score] : tokens) vocab.push_back(Json::array({text, score}));
  return {{"type", "Unigram"}, {"unk_id", unk_id}, {"vocab", std::move(vocab)}, {"byte_fallback", byte_fallback}};
}

Json make_model_node(const SentencePieceModel& model, const std::vector<ScoredToken>& tokens, Conversion conversion,
                     const std::string& source) {
  const bool byte_fallback = conversion == Conversion::llama;
  if (model.kind == Kind::unigram) {
    const bool has_own = conversion == Conversion::xlm_roberta || conversion == Conversion::camembert;
    const std::int32_t unk_id = has_own ? 3 : conversion == Conversion::llama ? 0 : model.unk_id;
    return make_unigram_node(tokens, unk_id, byte_fallback);
  }
  check(model.kind == Kind::bpe, "{} is a SentencePiece model of words or characters; unigram and BPE are supported",
        source);
  Vocabulary texts;
  for (const ScoredToken& token : tokens) texts.push_back(token.text);
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", model.unk_piece},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", byte_fallback},
          {"ignore_merges", false},
          {"vocab", make_vocab(TokenTable(std::move(texts)))},
          {"merges", make_merges(model, tokens)}};
}

Json replace_string(std::string_view what, std::string_view by) {
  return {{"type", "Replace"}, {"pattern", {{"String", what}}}, {"content", by}};
}

Json replace_spaces(std::string_view by) {
  return {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", by}};
}

Json strip(bool left, bool right) { return {{"type", "Strip"}, {"strip_left", left}, {"strip_right", right}}; }

Json node(std::string_view type) { return {{"type", type}}; }

Json sequence(std::string_view key, Json nodes) { return {{"type", "Sequence"}, {key, std::move(nodes)}}; }

Json make_normalizer_node(const SentencePieceModel& model, Conversion conversion, const SettingsFile& settings) {
  const auto setting = [&](std::string_view key, bool otherwise) {
    return io::get_bool_or(settings.values, key, otherwise, settings.name);
  };
  Json steps = Json::array();
  const auto add_map = [&] {
    if (model.character_map.empty()) return;
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", io::encode_base64(model.character_map)}});
  };
  if (conversion == Conversion::llama) {
    if (setting("add_prefix_space", true)) steps.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
    steps.push_back(replace_string(" ", kSpace));
  } else if (conversion == Conversion::albert) {
    steps.push_back(replace_string("``", "\""));
    steps.push_back(replace_string("''", "\""));
    if (!setting("keep_accents", false)) {
      steps.push_back(node("NFKD"));
      steps.push_back(node("StripAccents"));
    }
    if (setting("do_lower_case", true)) steps.push_back(node("Lowercase"));
    add_map();
    steps.push_back(replace_spaces(" "));
  } else if (conversion == Conversion::deberta_v2) {
    if (setting("do_lower_case", false)) steps.push_back(node("Lowercase"));
    steps.push_back(strip(true, true));
    add_map();
    steps.push_back(replace_spaces(" "));
  } else {
    add_map();
    steps.push_back(strip(false, true));
    steps.push_back(replace_spaces(kSpace));
  }
  return sequence("normalizers", std::move(steps));
}

Json make_pre_tokenizer_node(Conversion conversion, const SettingsFile& settings, bool add_prefix_space) {
  if (conversion == Conversion::llama) return nullptr;
  const Json metaspace = make_metaspace(add_prefix_space);
  if (conversion != Conversion::deberta_v2) return metaspace;
  Json steps = Json::array();
  if (io::get_bool_or(settings.values, "split_by_punct", false, settings.name))
    steps.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
  steps.push_back(metaspace);
  return sequence("pretokenizers", std::move(steps));
}

Json make_decoder_node(Conversion conversion, bool add_prefix_space) {
  if (conversion != Conversion::llama) return make_metaspace(add_prefix_space);
  Json steps = Json::array({replace_string(kSpace, " "), node("ByteFallback"), node("Fuse")});
  if (add_prefix_space) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return sequence("decoders", std::move(steps));
}

Json make_post_processor_node(const std::vector<ScoredToken>& tokens, Conversion conversion,
                              const SettingsFile& settings, const PipelineConfig& config) {
  const auto token = [&](const char* name) -> TokenId {
    const std::string& text = config.special_names.at(name);
    const auto found = std::ranges::find(tokens, text, &ScoredToken::text);
    check(found != tokens.end(), "{} has no token \"{}\", which a {} cannot do without", config.source, text,
          config.tokenizer_class);
    return {text, static_cast<std::int32_t>(found - tokens.begin())};
  };
  switch (conversion) {
    case Conversion::xlm_roberta:
    case Conversion::camembert: {
      const TokenId cls = token("cls"), sep = token("sep");
      return make_template({cls.first, "$A", sep.first}, {cls.first, "$A", sep.first, sep.first, "$B", sep.first},
                           {cls, sep});
    }
    case Conversion::t5: {
      const TokenId end = token("eos");
      return make_template({"$A", end.first}, {"$A", end.first, "$B", end.first}, {end});
    }
    case Conversion::llama: {
      const bool begins = io::get_bool_or(settings.values, "add_bos_token", true, settings.name);
      const bool ends = io::get_bool_or(settings.values, "add_eos_token", false, settings.name);
      std::vector<std::string> single, pair;
      std::vector<TokenId> special;
      const auto around = [&](const std::string& text, const std::string& type, std::vector<std::string>& parts) {
        if (begins) parts.push_back(token("bos").first + type);
        parts.push_back(text + type);
        if (ends) parts.push_back(token("eos").first + type);
      };
      around("$A", ":0", single);
      around("$A", ":0", pair);
      around("$B", ":1", pair);
      if (begins) special.push_back(token("bos"));
      if (ends) special.push_back(token("eos"));
      return make_template(single, pair, special);
    }
    default: {
      const TokenId cls = token("cls"), sep = token("sep");
      return make_template({cls.first, "$A", sep.first}, {cls.first, "$A", sep.first, "$B:1", sep.first + ":1"},
                           {cls, sep});
    }
  }
}

}  // namespace

Json make_unigram_json(const std::vector<ScoredToken>& tokens, std::int32_t unk_id, Conversion conversion,
                       const SettingsFile& settings, const PipelineConfig& config) {
  Nodes nodes;
  nodes.pre_tokenizer = make_metaspace(true);
  nodes.post_processor = make_post_processor_node(tokens, conversion, settings, config);
  nodes.decoder = make_metaspace(true);
  nodes.model = make_unigram_node(tokens, unk_id, false);
  return make_tokenizer_json(std::move(nodes));
}

Json convert_sentencepiece(const SentencePieceModel& model, Conversion conversion, const SettingsFile& settings,
                           PipelineConfig& config) {
  check(conversion != Conversion::llama || io::get_bool_or(settings.values, "legacy", true, settings.name),
        "{}: \"legacy\" false is supported with a tokenizer.json alone", settings.name);
  const std::vector<ScoredToken> tokens = tokens_of(model, conversion);
  const auto add = [&tokens_added = config.added_tokens](AddedToken token) {
    if (std::ranges::find(tokens_added, token.content, &AddedToken::content) == tokens_added.end())
      tokens_added.push_back(std::move(token));
  };
  for (const auto& [text, score, type] : model.pieces)
    if (type == Type::control || type == Type::user_defined) add({.content = text, .special = type == Type::control});
  for (int i = 0; conversion == Conversion::t5 && i < kExtraIds; ++i) add({.content = extra_id(i)});
  if (conversion == Conversion::deberta_v2)  // its class has the unknown token looked for in normalised text
    add({.content = config.special_names.at("unk"), .normalized = true});
  const bool add_prefix_space = io::get_bool_or(settings.values, "add_prefix_space", true, settings.name);
  Nodes nodes;
  nodes.normalizer = make_normalizer_node(model, conversion, settings);
  nodes.pre_tokenizer = make_pre_tokenizer_node(conversion, settings, add_prefix_space);
  nodes.post_processor = make_post_processor_node(tokens, conversion, settings, config);
  nodes.decoder = make_decoder_node(conversion, add_prefix_space);
  nodes.model = make_model_node(model, tokens, conversion, config.source);
  return make_tokenizer_json(std::move(nodes));
}

}  // namespace hearth::tokenizer
