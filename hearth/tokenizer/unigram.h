#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/model.h"
#include "hearth/tokenizer/piece_trie.h"

namespace hearth::tokenizer {

struct ScoredToken {
  std::string text;
  double score = 0;
};

// The tokens of a word are those with the largest sum of scores (logarithms of probabilities). A character that is in
// no token is unknown; neighbouring unknown ones are one token, or a token for each byte (byte_fallback).
class Unigram final : public Model {
 public:
  struct Options {
    std::vector<double> scores;   // by id
    bool read_from_json = false;  // scores count as Hugging Face's library reads them (library_number.h)
    std::int32_t unk_id = TokenTable::kNoToken;
    bool byte_fallback = false;
  };
  static constexpr double kUnknownPenalty = 10;  // an unknown character is that much below the lowest score
  Unigram(TokenTable tokens, Options options);

  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  std::int32_t unk_id() const override { return options_.unk_id; }
  void write(io::Json& node) const override;

 private:
  void append_unknown(std::string_view word, std::uint32_t begin, std::uint32_t end, std::vector<Piece>& pieces) const;

  Options options_;
  std::vector<double> scores_;  // that count
  PieceTrie trie_;
  double unk_score_;
  std::array<std::int32_t, 256> byte_ids_;
};

}  // namespace hearth::tokenizer
