#include "hearth/tokenizer/unigram.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/byte_tokens.h"
#include "hearth/tokenizer/library_number.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

// The best way to cut the text before a place: its last token.
struct Step {
  double score = 0;
  std::int32_t id = 0;
  std::uint32_t begin = UINT32_MAX;  // none yet

  void offer(double better_score, std::int32_t token, std::size_t from) {
    if (begin != UINT32_MAX && better_score <= score) return;
    *this = {better_score, token, static_cast<std::uint32_t>(from)};
  }
};

std::size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

Unigram::Unigram(TokenTable tokens, Options options)
    : Model(std::move(tokens)),
      options_(std::move(options)),
      scores_(options_.scores),
      trie_(this->tokens().all()),
      byte_ids_(byte_tokens(this->tokens())) {
  if (options_.read_from_json) std::ranges::transform(scores_, scores_.begin(), library_number);
  unk_score_ = (scores_.empty() ? 0 : std::ranges::min(scores_)) - kUnknownPenalty;
}

void Unigram::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  thread_local std::vector<Step> best;  // by the place where a cut ends
  best.assign(word.size() + 1, Step{});
  for (std::size_t begin = 0; begin < word.size();) {
    const double score = best[begin].score;
    const std::size_t next = begin + bytes_of_character(word[begin]);
    bool is_known = false;
    trie_.for_each_token(word, begin, [&](std::size_t end, std::int32_t id) {
      best[end].offer(score + scores_[static_cast<std::size_t>(id)], id, begin);
      is_known = is_known || end == next;
    });
    if (!is_known) best[next].offer(score + unk_score_, options_.unk_id, begin);
    begin = next;
  }
  const std::size_t before = pieces.size();
  for (auto end = static_cast<std::uint32_t>(word.size()); end > 0;) {
    const Step& step = best[end];
    if (step.id == options_.unk_id && pieces.size() > before && pieces.back().id == step.id)
      pieces.back().begin = step.begin;
    else
      pieces.push_back({step.id, step.begin, end});
    end = step.begin;
  }
  std::ranges::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(before), pieces.end());
  const auto is_unknown = [this](const Piece& piece) { return piece.id == options_.unk_id; };
  const auto added = pieces.begin() + static_cast<std::ptrdiff_t>(before);
  if (std::none_of(added, pieces.end(), is_unknown)) return;
  const std::vector<Piece> found(added, pieces.end());
  pieces.resize(before);
  for (const Piece& piece : found)
    if (is_unknown(piece))
      append_unknown(word, piece.begin, piece.end, pieces);
    else
      pieces.push_back(piece);
}

// Unknown characters together may spell a token after all.
void Unigram::append_unknown(std::string_view word, std::uint32_t begin, std::uint32_t end,
                             std::vector<Piece>& pieces) const {
  const std::string_view text = word.substr(begin, end - begin);
  const auto id_of_byte = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (const std::int32_t id = trie_.find(text); id != PieceTrie::kNoToken) {
    pieces.push_back({id, begin, end});
  } else if (options_.byte_fallback &&
             std::ranges::none_of(text, [&](char byte) { return id_of_byte(byte) == TokenTable::kNoToken; })) {
    for (const char byte : text) pieces.push_back({id_of_byte(byte), begin, end});
  } else {
    check(options_.unk_id != TokenTable::kNoToken,
          "the text has characters that the tokenizer does not know, and its model has no \"unk_id\"");
    pieces.push_back({options_.unk_id, begin, end});
  }
}

void Unigram::write(io::Json& node) const {
  io::Json vocab = io::Json::array();
  for (std::size_t id = 0; id < options_.scores.size(); ++id)
    vocab.push_back(io::Json::array({tokens().all()[id], options_.scores[id]}));
  node["vocab"] = std::move(vocab);
}

}  // namespace hearth::tokenizer
