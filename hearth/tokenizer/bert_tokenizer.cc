#include "hearth/tokenizer/bert_tokenizer.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kBytesPerToken = 4;  // about right for English; only reserves memory

void append(TokenizedText& pieces, std::int32_t id, Offset offset) {
  pieces.ids.push_back(id);
  pieces.offsets.push_back(offset);
}

void append_special(Encoding& encoding, std::int32_t id, std::int32_t type_id) {
  encoding.ids.push_back(id);
  encoding.type_ids.push_back(type_id);
  encoding.offsets.push_back({0, 0});
  encoding.sequence.push_back(-1);
}

void append_text(Encoding& encoding, const TokenizedText& pieces, std::int8_t sequence) {
  encoding.ids.insert(encoding.ids.end(), pieces.ids.begin(), pieces.ids.end());
  encoding.type_ids.resize(encoding.ids.size(), sequence);
  encoding.offsets.insert(encoding.offsets.end(), pieces.offsets.begin(), pieces.offsets.end());
  encoding.sequence.resize(encoding.ids.size(), sequence);
}

Encoding with_room_for(std::size_t tokens) {
  Encoding encoding;
  encoding.ids.reserve(tokens);
  encoding.type_ids.reserve(tokens);
  encoding.offsets.reserve(tokens);
  encoding.sequence.reserve(tokens);
  return encoding;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// The clean-up of Hugging Face's WordPiece decoder, token by token: it mostly joins punctuation to the word before it.
void clean_up(std::string& token) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [what, by] : kReplacements) replace_all(token, what, by);
}

}  // namespace

BertTokenizer::BertTokenizer(BertConfig config)
    : config_(std::move(config)),
      trie_(config_.vocabulary),
      continuation_(trie_.descend(PieceTrie::kRoot, config_.continuing_subword_prefix)),
      normalizer_(config_.normalizer),
      raw_tokens_({}, {}),
      normalized_tokens_({}, {}),
      vocab_size_(static_cast<std::int64_t>(config_.vocabulary.size())) {
  for (const std::string& token : {config_.unk_token, config_.cls_token, config_.sep_token})
    check(trie_.find(token) != PieceTrie::kNoToken, "{} has no token \"{}\", which a BERT tokenizer cannot do without",
          config_.source, token);
  complete_added_tokens();
  raw_tokens_ = finder(false);
  normalized_tokens_ = finder(true);
  unk_id_ = trie_.find(config_.unk_token);
  sep_id_ = id_of(config_.sep_token);
  pad_id_ = id_of(config_.pad_token);
  cls_id_ = id_of(config_.cls_token);
}

void BertTokenizer::complete_added_tokens() {
  auto& tokens = config_.added_tokens;
  for (const std::string& name :
       {config_.pad_token, config_.unk_token, config_.cls_token, config_.sep_token, config_.mask_token})
    if (std::ranges::find(tokens, name, &AddedToken::content) == tokens.end())
      tokens.push_back({.id = -1, .content = name});
  for (AddedToken& token : tokens) {
    if (const std::int32_t id = trie_.find(token.content); id != PieceTrie::kNoToken) token.id = id;
    if (token.id < 0) token.id = static_cast<std::int32_t>(vocab_size_);
    vocab_size_ = std::max(vocab_size_, std::int64_t{token.id} + 1);
  }
  std::ranges::sort(tokens, {}, &AddedToken::id);
}

AddedTokenFinder BertTokenizer::finder(bool normalized_tokens) const {
  std::vector<AddedToken> tokens;
  std::vector<std::string> patterns;
  for (const AddedToken& token : config_.added_tokens) {
    if (token.normalized != normalized_tokens) continue;
    tokens.push_back(token);
    patterns.push_back(normalized_tokens ? normalized(token.content) : token.content);
  }
  return AddedTokenFinder(std::move(tokens), std::move(patterns));
}

std::string BertTokenizer::normalized(std::string_view text) const {
  std::string result;
  for (const Character& character : normalizer_.normalize(text, 0)) io::append_utf8(result, character.value);
  return result;
}

const AddedToken* BertTokenizer::added_token(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(config_.added_tokens, id, {}, &AddedToken::id);
  return found != config_.added_tokens.end() && found->id == id ? &*found : nullptr;
}

std::int32_t BertTokenizer::id_of(std::string_view token) const {
  return std::ranges::find(config_.added_tokens, token, &AddedToken::content)->id;
}

TokenizedText BertTokenizer::pieces(std::string_view text) const {
  TokenizedText pieces;
  pieces.ids.reserve(text.size() / kBytesPerToken);
  pieces.offsets.reserve(text.size() / kBytesPerToken);
  std::int32_t place = 0;
  for (const auto& [part, token] : raw_tokens_.split(text)) {
    if (token) {
      const std::int32_t end = place + count_code_points(part);
      append(pieces, token->id, {place, end});
      place = end;
    } else if (!normalized_tokens_.empty()) {
      append_normalized(normalizer_.normalize(part, place), pieces);
      place += count_code_points(part);
    } else {
      WordReader reader(normalizer_, part, place);
      append_words(reader, pieces);
      place = reader.place();
    }
  }
  return pieces;
}

void BertTokenizer::append_normalized(std::vector<Character> characters, TokenizedText& pieces) const {
  std::string text;
  std::vector<std::size_t> character_of;  // by byte
  for (std::size_t i = 0; i < characters.size(); ++i) {
    io::append_utf8(text, characters[i].value);
    character_of.resize(text.size(), i);
  }
  for (const auto& [part, token] : normalized_tokens_.split(text)) {
    const auto begin = static_cast<std::size_t>(part.data() - text.data());
    const std::size_t first = character_of[begin], last = character_of[begin + part.size() - 1];
    if (!token) {
      NormalizedWords words;
      words.read({characters.data() + first, characters.data() + last + 1});
      append_words(words, pieces);
    } else {
      append(pieces, token->id, {characters[first].origin, characters[last].origin + 1});
    }
  }
}

template <class Words>
void BertTokenizer::append_words(Words& words, TokenizedText& pieces) const {
  for (Word word; words.next(word);) append_word(word, pieces);
}

void BertTokenizer::append_word(const Word& word, TokenizedText& pieces) const {
  const std::size_t before = pieces.ids.size();
  if (word.characters <= config_.max_input_chars_per_word && append_pieces(word, pieces)) return;
  pieces.ids.resize(before);
  pieces.offsets.resize(before);
  append(pieces, unk_id_, word.place(0, word.text.size()));
}

bool BertTokenizer::append_pieces(const Word& word, TokenizedText& pieces) const {
  const std::string_view text = word.text;
  for (std::size_t begin = 0; begin < text.size();) {
    PieceTrie::Node node = begin == 0 ? PieceTrie::kRoot : continuation_;
    std::int32_t longest = PieceTrie::kNoToken;
    std::size_t end = begin;
    for (std::size_t at = begin; at < text.size() && node != PieceTrie::kNowhere;) {
      node = trie_.child(node, text[at++]);
      if (node != PieceTrie::kNowhere && trie_.token(node) != PieceTrie::kNoToken) {
        longest = trie_.token(node);
        end = at;
      }
    }
    if (longest == PieceTrie::kNoToken) return false;
    append(pieces, longest, word.place(begin, end));
    begin = end;
  }
  return true;
}

Encoding BertTokenizer::build(const TokenizedText& first) const {
  Encoding encoding = with_room_for(first.ids.size() + 2);
  append_special(encoding, cls_id_, 0);
  append_text(encoding, first, 0);
  append_special(encoding, sep_id_, 0);
  return encoding;
}

Encoding BertTokenizer::build(const TokenizedText& first, const TokenizedText& second) const {
  Encoding encoding = with_room_for(first.ids.size() + second.ids.size() + 3);
  append_special(encoding, cls_id_, 0);
  append_text(encoding, first, 0);
  append_special(encoding, sep_id_, 0);
  append_text(encoding, second, 1);
  append_special(encoding, sep_id_, 1);
  return encoding;
}

// Ids without a token are left out.
std::vector<std::int32_t> BertTokenizer::special_ids() const {
  std::vector<std::int32_t> ids;
  for (const AddedToken& token : config_.added_tokens)
    if (token.special) ids.push_back(token.id);
  return ids;
}

std::string BertTokenizer::decode(const std::vector<std::int32_t>& ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    const AddedToken* added = added_token(id);
    if (added && added->special && skip_special_tokens) continue;
    std::string text = added && added->normalized ? normalized(added->content) : token(id);
    if (!text.empty()) tokens.push_back(std::move(text));
  }
  return joined(tokens);
}

std::string BertTokenizer::token(std::int32_t id) const {
  if (const AddedToken* added = added_token(id)) return added->content;
  const bool known = 0 <= id && static_cast<std::size_t>(id) < config_.vocabulary.size();
  return known ? config_.vocabulary[static_cast<std::size_t>(id)] : "";
}

std::string BertTokenizer::joined(const std::vector<std::string>& tokens) const {
  std::string text;
  bool first = true;
  for (std::string token : tokens) {
    if (!first) {
      if (token.starts_with(config_.continuing_subword_prefix))
        token.erase(0, config_.continuing_subword_prefix.size());
      else
        token.insert(token.begin(), ' ');
    }
    clean_up(token);
    text += token;
    first = false;
  }
  return text;
}

}  // namespace hearth::tokenizer
