#include "hearth/tokenizer/bpe.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/byte_tokens.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kFew = 48;       // symbols of a word for which searching all merges is faster than a heap
constexpr std::size_t kLongWord = 32;  // bytes
constexpr std::uint32_t kNoRank = UINT32_MAX;

char32_t first_character(std::string_view text) {
  std::size_t at = 0;
  return read_code_point(text, at);
}

char32_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u) --at;
  return read_code_point(text, at);
}

std::uint64_t pair_of(char32_t before, char32_t after) { return std::uint64_t{before} << 32 | after; }

std::size_t index_of(char first, char second) {
  return static_cast<std::size_t>(static_cast<unsigned char>(first)) << 8 | static_cast<unsigned char>(second);
}

}  // namespace

Bpe::Bpe(TokenTable tokens, Options options, const std::string& where)
    : Model(std::move(tokens)), options_(std::move(options)), byte_ids_(byte_tokens(this->tokens())) {
  if (options_.unk_token) {
    unk_id_ = this->tokens().find(*options_.unk_token);
    check(unk_id_ != TokenTable::kNoToken, "{}: \"unk_token\" {} is not in the vocabulary", where,
          io::excerpt(*options_.unk_token));
  }
  for (std::size_t id = 0; id < this->tokens().all().size(); ++id)
    if (const std::string& token = this->tokens().all()[id]; !token.empty() && count_code_points(token) == 1)
      characters_[first_character(token)] = this->tokens().find(token);
  splits_ = options_.unk_token && !options_.continuing_subword_prefix && !options_.end_of_word_suffix &&
            !options_.ignore_merges;
  add_merges(where);
}

void Bpe::add_merges(const std::string& where) {
  const std::size_t prefix = options_.continuing_subword_prefix ? options_.continuing_subword_prefix->size() : 0;
  const auto id_of = [&](const std::string& token, std::size_t line) {
    const std::int32_t id = tokens().find(token);
    check(id != TokenTable::kNoToken, "{}: merge {} names the token {}, which is not in the vocabulary", where, line,
          io::excerpt(token));
    return id;
  };
  merges_.reserve(options_.merges.size());
  for (std::size_t rank = 0; rank < options_.merges.size(); ++rank) {
    const auto& [first, second] = options_.merges[rank];
    const std::int32_t left = id_of(first, rank + 1), right = id_of(second, rank + 1);
    check(second.size() >= prefix, "{}: merge {}: {} does not begin with \"continuing_subword_prefix\"", where,
          rank + 1, io::excerpt(second));
    const std::int32_t whole = id_of(first + second.substr(prefix), rank + 1);
    merges_[pair_key(left, right)] = {static_cast<std::uint32_t>(rank), whole};
    junctions_.insert(pair_of(last_character(first), first_character(second)));
    for (const std::int32_t id : {left, right})
      if (id == unk_id_ || (options_.byte_fallback && std::ranges::find(byte_ids_, id) != byte_ids_.end()))
        splits_ = false;
  }
}

bool Bpe::can_read_bytes() const {
  if (options_.continuing_subword_prefix || options_.end_of_word_suffix) return false;
  for (int byte = 0; byte < 256; ++byte)
    if (!is_known(character_of_byte(static_cast<char>(byte)))) return false;
  return true;
}

void Bpe::read_bytes() {
  reads_bytes_ = true;
  splits_ = !options_.ignore_merges;
  for (int byte = 0; byte < 256; ++byte)
    alphabet_[static_cast<std::size_t>(byte)] = characters_.at(character_of_byte(static_cast<char>(byte)));
  for (const std::uint64_t pair : junctions_) {
    const auto before = byte_of_character(static_cast<char32_t>(pair >> 32));
    const auto after = byte_of_character(static_cast<char32_t>(pair & UINT32_MAX));
    if (before && after) byte_junctions_.set(index_of(*before, *after));
  }
  if (!options_.ignore_merges) return;
  for (const std::string& token : tokens().all()) {
    std::string bytes;
    bool is_spelled = !token.empty();
    for (std::size_t at = 0; at < token.size() && is_spelled;) {
      const auto byte = byte_of_character(read_code_point(token, at));
      is_spelled = byte.has_value();
      if (byte) bytes += *byte;
    }
    if (is_spelled) ids_of_bytes_[bytes] = tokens().find(token);
  }
}

std::int32_t Bpe::id_of_word(std::string_view word) const {
  if (!reads_bytes_) return tokens().find(word);
  const auto found = ids_of_bytes_.find(std::string(word));
  return found == ids_of_bytes_.end() ? TokenTable::kNoToken : found->second;
}

bool Bpe::is_known(char32_t c) const { return characters_.contains(c); }

// Unknown characters stay together, because they may become one token.
bool Bpe::may_join(char32_t before, char32_t after) const {
  return junctions_.contains(pair_of(before, after)) || (!is_known(before) && !is_known(after));
}

std::size_t Bpe::independent_part(std::string_view word) const {
  if (!splits_ || word.size() <= kLongWord) return word.size();
  if (reads_bytes_) {
    std::size_t end = 1;
    while (end < word.size() && byte_junctions_.test(index_of(word[end - 1], word[end]))) ++end;
    return end;
  }
  std::size_t at = 0;
  char32_t before = read_code_point(word, at);
  while (at < word.size()) {
    const std::size_t here = at;
    const char32_t after = read_code_point(word, at);
    if (!may_join(before, after)) return here;
    before = after;
  }
  return word.size();
}

void Bpe::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  if (options_.ignore_merges)
    if (const std::int32_t id = id_of_word(word); id != TokenTable::kNoToken)
      return pieces.push_back({id, 0, static_cast<std::uint32_t>(word.size())});
  thread_local std::vector<Symbol> symbols;
  symbols.clear();
  start(word, symbols);
  if (symbols.size() <= kFew)
    merge_few(symbols);
  else
    merge_many(symbols);
  const auto size = static_cast<std::uint32_t>(word.size());
  std::uint32_t begin = 0;
  for (const Symbol& symbol : symbols) {
    pieces.push_back({symbol.id, std::min(begin, size - 1), std::min(begin + symbol.bytes, size)});
    begin += symbol.bytes;
  }
}

void Bpe::start(std::string_view word, std::vector<Symbol>& symbols) const {
  if (reads_bytes_) {
    for (const char byte : word) symbols.push_back({alphabet_[static_cast<unsigned char>(byte)], 1});
    return;
  }
  const bool is_plain = !options_.continuing_subword_prefix && !options_.end_of_word_suffix;
  std::optional<Symbol> unknown;
  std::string spelled;
  for (std::size_t at = 0, end = 0; at < word.size(); at = end) {
    const char32_t c = read_code_point(word, end);
    std::string_view text = word.substr(at, end - at);
    const auto bytes = static_cast<std::uint32_t>(text.size());
    std::int32_t id = TokenTable::kNoToken;
    if (is_plain) {
      const auto found = characters_.find(c);
      if (found != characters_.end()) id = found->second;
    } else {
      spelled = (at > 0 ? options_.continuing_subword_prefix.value_or("") : "") + std::string(text) +
                (end == word.size() ? options_.end_of_word_suffix.value_or("") : "");
      id = tokens().find(text = spelled);
    }
    if (id == TokenTable::kNoToken) {
      append_unknown(text, bytes, unknown, symbols);
      continue;
    }
    if (unknown) symbols.push_back(*unknown);
    unknown.reset();
    symbols.push_back({id, bytes});
  }
  if (unknown) symbols.push_back(*unknown);
}

// `unknown` is the last unknown token, which waits for others to join it. A character that the model has no token for
// is left out if there is no unknown token either.
void Bpe::append_unknown(std::string_view text, std::uint32_t bytes, std::optional<Symbol>& unknown,
                         std::vector<Symbol>& symbols) const {
  const auto id_of_byte = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (options_.byte_fallback &&
      std::ranges::none_of(text, [&](char byte) { return id_of_byte(byte) == TokenTable::kNoToken; })) {
    for (const char byte : text) symbols.push_back({id_of_byte(byte), 1});
    return;
  }
  if (unk_id_ == TokenTable::kNoToken) return;
  if (unknown && options_.fuse_unk) {
    unknown->bytes += bytes;
    return;
  }
  if (unknown) symbols.push_back(*unknown);
  unknown = {unk_id_, bytes};
}

void Bpe::merge_few(std::vector<Symbol>& symbols) const {
  std::array<Merge, kFew> merges;  // of each symbol with the next
  std::size_t count = symbols.size();
  const auto look_up = [&](std::size_t at) {
    const Merge* merge = merges_.find(pair_key(symbols[at].id, symbols[at + 1].id));
    merges[at] = merge ? *merge : Merge{kNoRank, 0};
  };
  for (std::size_t at = 0; at + 1 < count; ++at) look_up(at);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t at = 1; at + 1 < count; ++at)
      if (merges[at].rank < merges[best].rank) best = at;
    if (merges[best].rank == kNoRank) break;
    symbols[best] = {merges[best].id, symbols[best].bytes + symbols[best + 1].bytes};
    --count;
    for (std::size_t at = best + 1; at < count; ++at) symbols[at] = symbols[at + 1];
    for (std::size_t at = best + 1; at + 1 < count; ++at) merges[at] = merges[at + 1];
    if (best > 0) look_up(best - 1);
    if (best + 1 < count) look_up(best);
  }
  symbols.resize(count);
}

// The same with a heap of merges. A merge counts only if its two symbols are still those that it was found for.
void Bpe::merge_many(std::vector<Symbol>& symbols) const {
  struct Candidate {
    std::uint32_t rank;
    std::size_t at, next;
    std::int32_t left, right, whole;
    bool operator>(const Candidate& other) const { return std::tuple(rank, at) > std::tuple(other.rank, other.at); }
  };
  const std::size_t count = symbols.size();
  std::vector<std::size_t> next(count), previous(count);
  for (std::size_t at = 0; at < count; ++at) {
    next[at] = at + 1;
    previous[at] = at - 1;
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
  const auto offer = [&](std::size_t at, std::size_t after) {
    if (const Merge* merge = merges_.find(pair_key(symbols[at].id, symbols[after].id)))
      heap.push({merge->rank, at, after, symbols[at].id, symbols[after].id, merge->id});
  };
  for (std::size_t at = 0; at + 1 < count; ++at) offer(at, at + 1);
  while (!heap.empty()) {
    const Candidate top = heap.top();
    heap.pop();
    const bool stands = symbols[top.at].bytes > 0 && next[top.at] == top.next && symbols[top.at].id == top.left &&
                        symbols[top.next].id == top.right;
    if (!stands) continue;
    symbols[top.at] = {top.whole, symbols[top.at].bytes + symbols[top.next].bytes};
    symbols[top.next].bytes = 0;
    const std::size_t after = next[top.next];
    next[top.at] = after;
    if (after < count) {
      previous[after] = top.at;
      offer(top.at, after);
    }
    if (top.at > 0) offer(previous[top.at], top.at);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.bytes == 0; });
}

void Bpe::write(io::Json& node) const {
  node["vocab"] = make_vocab(tokens());
  io::Json merges = io::Json::array();
  for (const auto& [first, second] : options_.merges) {
    if (options_.spells_merges)
      merges.push_back(first + " " + second);
    else
      merges.push_back(io::Json::array({first, second}));
  }
  node["merges"] = std::move(merges);
}

}  // namespace hearth::tokenizer
