#include "hearth/tokenizer/pipeline_tokenizer.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/word_cache.h"
#include "hearth/tokenizer/word_reader.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr std::size_t kBytesPerToken = 4;  // about right for English; only reserves memory

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

void append(TokenizedText& pieces, std::int32_t id, Offset offset) {
  pieces.ids.push_back(id);
  pieces.offsets.push_back(offset);
}

bool is_ascii(std::string_view text) {
  return std::ranges::none_of(text, [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; });
}

std::vector<std::int32_t> origins_of(std::string_view text, std::int32_t first) {
  std::vector<std::int32_t> origins(text.size());
  std::int32_t origin = first - 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    origin += (static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80u ? 1 : 0;
    origins[at] = origin;
  }
  return origins;
}

const Json* find_node(const Json& nodes, std::string_view key) {
  const auto node = nodes.find(key);
  return node == nodes.end() || node->is_null() ? nullptr : &*node;
}

bool is_of_type(const Json& nodes, std::string_view key, std::string_view type) {
  const Json* node = find_node(nodes, key);
  return node && (*node)["type"] == type;
}

}  // namespace

void add_special_tokens(PipelineConfig& config) {
  auto& tokens = config.added_tokens;
  for (const char* name : kSpecialNames) {
    const auto token = config.special_names.find(name);
    if (token == config.special_names.end()) continue;
    if (std::ranges::find(tokens, token->second, &AddedToken::content) != tokens.end()) continue;
    tokens.push_back({.content = token->second});
  }
}

PipelineTokenizer::PipelineTokenizer(PipelineConfig config)
    : config_(std::move(config)), raw_tokens_({}, {}), normalized_tokens_({}, {}), serial_(next_serial()) {
  build_nodes();
  complete_added_tokens();
  post_processor_.check_ids(vocab_size_, config_.source + ": the post-processor");
  names_ = config_.special_names;
  names_.merge(guessed_names());
  raw_tokens_ = finder(false);
  normalized_tokens_ = finder(true);
  if (post_processor_.trimming()) post_processor_.set_spaces(spaces_of_tokens());
  if (is_of_type(config_.nodes, "pre_tokenizer", "BertPreTokenizer") && normalized_tokens_.empty()) {
    bert_normalizer_ = dynamic_cast<const BertNormalizer*>(normalizer_.get());
    wordpiece_ = dynamic_cast<const WordPiece*>(model_.get());
  }
}

void PipelineTokenizer::build_nodes() {
  Json& nodes = config_.nodes;
  check(nodes.is_object() && nodes.contains("model"), "{} has no \"model\"", config_.source);
  const auto where = [&](std::string_view kind) { return fmt::format("{}: the {}", config_.source, kind); };
  if (const Json* node = find_node(nodes, "normalizer")) normalizer_ = make_normalizer(*node, where("normalizer"));
  if (const Json* node = find_node(nodes, "pre_tokenizer"))
    pre_tokenizer_ = make_pre_tokenizer(*node, where("pre-tokenizer"));
  if (const Json* node = find_node(nodes, "post_processor"))
    post_processor_ = PostProcessor(*node, where("post-processor"));
  if (const Json* node = find_node(nodes, "decoder")) decoder_ = make_decoder(*node, where("decoder"));
  model_ = make_model(nodes["model"], config_.source, config_.read_from_json);
  vocab_size_ = model_->tokens().size();
  if (pre_tokenizer_ && pre_tokenizer_->ends_in_bytes() && model_->can_read_bytes()) {
    pre_tokenizer_->leave_bytes();
    model_->read_bytes();
  }
}

void PipelineTokenizer::complete_added_tokens() {
  auto& tokens = config_.added_tokens;
  for (AddedToken& token : tokens) {
    if (const std::int32_t id = model_->tokens().find(token.content); id != TokenTable::kNoToken) token.id = id;
    if (token.id < 0) token.id = static_cast<std::int32_t>(vocab_size_);
    const std::string* other = model_->tokens().token(token.id);
    check(!other || *other == token.content, "{}: the added token {} has the id {}, which is that of {}",
          config_.source, io::excerpt(token.content), token.id, io::excerpt(other ? *other : ""));
    vocab_size_ = std::max(vocab_size_, std::int64_t{token.id} + 1);
  }
  std::ranges::stable_sort(tokens, {}, &AddedToken::id);
  const auto same = std::ranges::adjacent_find(tokens, {}, &AddedToken::id);
  check(same == tokens.end() || same->content == std::next(same)->content,
        "{}: the added tokens {} and {} have the same id, {}", config_.source,
        io::excerpt(same == tokens.end() ? "" : same->content),
        io::excerpt(same == tokens.end() ? "" : std::next(same)->content), same == tokens.end() ? 0 : same->id);
}

// A tokenizer.json alone does not say which token is which; its nodes and usual names tell.
SpecialNames PipelineTokenizer::guessed_names() const {
  SpecialNames names;
  const auto set = [&](const std::string& name, const std::optional<std::string>& token) {
    if (token) names.emplace(name, *token);
  };
  const auto usual = [&](std::initializer_list<std::string> tokens) -> std::optional<std::string> {
    for (const std::string& token : tokens)
      if (model_->tokens().find(token) != TokenTable::kNoToken) return token;
    return std::nullopt;
  };
  set("cls", post_processor_.first_special());
  set("sep", post_processor_.last_special());
  set("pad", usual({"[PAD]", "<pad>"}));
  set("mask", usual({"[MASK]", "<mask>"}));
  if (const std::string* unk = model_->tokens().token(model_->unk_id())) set("unk", *unk);
  return names;
}

AddedTokenFinder PipelineTokenizer::finder(bool normalized_tokens) const {
  std::vector<AddedToken> tokens;
  std::vector<std::string> patterns;
  for (const AddedToken& token : config_.added_tokens) {
    if (token.normalized != normalized_tokens) continue;
    tokens.push_back(token);
    patterns.push_back(normalized_tokens ? normalized(normalizer_.get(), token.content) : token.content);
  }
  return AddedTokenFinder(std::move(tokens), std::move(patterns));
}

std::vector<PostProcessor::Spaces> PipelineTokenizer::spaces_of_tokens() const {
  std::vector<PostProcessor::Spaces> spaces;
  for (const std::string& token : model_->tokens().all()) spaces.push_back(PostProcessor::spaces_of(token));
  for (const AddedToken& token : config_.added_tokens)
    if (static_cast<std::size_t>(token.id) < spaces.size()) spaces[static_cast<std::size_t>(token.id)] = {};
  return spaces;
}

std::vector<std::int32_t> PipelineTokenizer::special_ids() const {
  std::vector<std::int32_t> ids;
  for (const AddedToken& token : config_.added_tokens)
    if (token.special) ids.push_back(token.id);
  return ids;
}

const AddedToken* PipelineTokenizer::added_token(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(config_.added_tokens, id, {}, &AddedToken::id);
  return found != config_.added_tokens.end() && found->id == id ? &*found : nullptr;
}

std::optional<std::int32_t> PipelineTokenizer::special(std::string_view name) const {
  const auto token = names_.find(std::string(name));
  if (token == names_.end()) return std::nullopt;
  const auto added = std::ranges::find(config_.added_tokens, token->second, &AddedToken::content);
  if (added != config_.added_tokens.end()) return added->id;
  const std::int32_t id = model_->tokens().find(token->second);
  return id == TokenTable::kNoToken ? std::nullopt : std::optional(id);
}

TokenizedText PipelineTokenizer::pieces(std::string_view text) const {
  if (bert_normalizer_ && wordpiece_) return pieces_of_bert(text);
  std::string repaired;
  if (!io::is_utf8(text)) text = repaired = with_replacements(text);
  TokenizedText pieces;
  pieces.ids.reserve(text.size() / kBytesPerToken);
  pieces.offsets.reserve(text.size() / kBytesPerToken);
  std::int32_t place = 0;
  for (const auto& [part, token] : raw_tokens_.split(text)) {
    const std::int32_t end = place + count_code_points(part);
    if (token)
      append_added(*token, part, {place, end}, pieces);
    else
      append_text(part, place, pieces);
    place = end;
  }
  return pieces;
}

TokenizedText PipelineTokenizer::pieces_of_bert(std::string_view text) const {
  TokenizedText pieces;
  pieces.ids.reserve(text.size() / kBytesPerToken);
  pieces.offsets.reserve(text.size() / kBytesPerToken);
  std::int32_t place = 0;
  for (const auto& [part, token] : raw_tokens_.split(text)) {
    if (token) {
      const std::int32_t end = place + count_code_points(part);
      append_added(*token, part, {place, end}, pieces);
      place = end;
      continue;
    }
    WordReader words(*bert_normalizer_, part, place);
    for (Word word; words.next(word);) {
      const std::size_t before = pieces.ids.size();
      const auto emit = [&](std::int32_t id, std::size_t begin, std::size_t end) {
        append(pieces, id, word.place(begin, end));
      };
      if (word.characters <= wordpiece_->options().max_input_chars_per_word && wordpiece_->cut(word.text, emit))
        continue;
      pieces.ids.resize(before);
      pieces.offsets.resize(before);
      emit(wordpiece_->unk_id(), 0, word.text.size());
    }
    place = words.place();
  }
  return pieces;
}

// Spaces that the token took in from the text beside it are trimmed here, where the text is known.
void PipelineTokenizer::append_added(const AddedToken& token, std::string_view text, Offset offset,
                                     TokenizedText& pieces) const {
  if (const auto& trimming = post_processor_.trimming())
    offset = PostProcessor::trimmed(offset, PostProcessor::spaces_of(text), pieces.ids.empty(), *trimming);
  append(pieces, token.id, offset);
}

void PipelineTokenizer::append_text(std::string_view text, std::int32_t first, TokenizedText& pieces) const {
  if (!normalizer_ || !normalizer_->changes(text)) {
    if (is_ascii(text)) return append_normalized(text, nullptr, first, pieces);
    const std::vector<std::int32_t> origins = origins_of(text, first);
    return append_normalized(text, origins.data(), first, pieces);
  }
  Characters characters = decode_utf8(text, first);
  normalizer_->normalize(characters);
  std::string normalized;
  std::vector<std::int32_t> origins;
  encode_utf8(characters, normalized, origins);
  append_normalized(normalized, origins.data(), first, pieces);
}

void PipelineTokenizer::append_normalized(std::string_view text, const std::int32_t* origins, std::int32_t first,
                                          TokenizedText& pieces) const {
  if (normalized_tokens_.empty()) {
    Words words(text, origins, first);
    return append_words(words, pieces);
  }
  for (const auto& [part, token] : normalized_tokens_.split(text)) {
    const auto begin = static_cast<std::size_t>(part.data() - text.data());
    Words words(part, origins ? origins + begin : nullptr, first + static_cast<std::int32_t>(begin));
    if (token)
      append_added(*token, part, words.place({0, part.size()}), pieces);
    else
      append_words(words, pieces);
  }
}

void PipelineTokenizer::append_words(Words& words, TokenizedText& pieces) const {
  if (pre_tokenizer_) pre_tokenizer_->split(words);
  WordCache& cache = WordCache::of_thread(serial_);
  thread_local std::vector<Piece> cut;
  for (const ByteRange& range : words.ranges()) {
    std::size_t begin = range.begin;
    for (std::string_view rest = words.text(range); !rest.empty();) {
      const std::string_view word = rest.substr(0, model_->independent_part(rest));
      const bool is_cached = WordCache::takes(word);
      const std::uint64_t hash = is_cached ? WordCache::hash_of(word) : 0;
      if (const auto* entry = is_cached ? cache.find(word, hash) : nullptr) {
        for (std::size_t i = 0; i < entry->count; ++i)
          append(pieces, entry->ids[i], words.place({begin + entry->begins[i], begin + entry->ends[i]}));
      } else {
        cut.clear();
        model_->tokenize(word, cut);
        if (is_cached) cache.store(word, hash, cut);
        for (const Piece& piece : cut) append(pieces, piece.id, words.place({begin + piece.begin, begin + piece.end}));
      }
      begin += word.size();
      rest.remove_prefix(word.size());
    }
  }
}

// Ids without a token are left out.
std::string PipelineTokenizer::decode(const std::vector<std::int32_t>& ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    const AddedToken* added = added_token(id);
    if (added && added->special && skip_special_tokens) continue;
    std::string text = token(id);
    if (!text.empty()) tokens.push_back(std::move(text));
  }
  return joined(tokens);
}

std::string PipelineTokenizer::token(std::int32_t id) const {
  if (const AddedToken* added = added_token(id)) return added->content;
  const std::string* token = model_->tokens().token(id);
  return token ? *token : "";
}

std::string PipelineTokenizer::joined(const std::vector<std::string>& tokens) const {
  std::string text;
  if (decoder_) {
    for (const std::string& part : decoder_->decode(tokens)) text += part;
    return text;
  }
  for (const std::string& token : tokens) {
    if (!text.empty()) text += ' ';
    text += token;
  }
  return text;
}

}  // namespace hearth::tokenizer
