#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/piece_trie.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {

// Pieces with probabilities, and the ways to cut a word into them, as the training of a Unigram model needs them. A
// piece is named by its index; removing it leaves the others' indices as they are. A character that is no piece is
// unknown, a piece with the index unknown().
class UnigramLattice {
 public:
  static constexpr double kRemoved = -std::numeric_limits<double>::infinity();

  explicit UnigramLattice(std::vector<std::string> pieces);

  const std::vector<std::string>& pieces() const { return pieces_; }
  std::size_t unknown() const { return pieces_.size(); }
  // Logarithms of the pieces' probabilities; kRemoved removes a piece.
  void set_scores(std::vector<double> scores);
  double score(std::size_t piece) const { return scores_[piece]; }
  bool has(std::size_t piece) const { return scores_[piece] != kRemoved; }
  double lowest_score() const { return lowest_; }

  // Adds to sums[piece] how often each piece is expected in the word, over all ways to cut it, times `count`.
  void add_expected(std::string_view word, double count, std::span<double> sums) const;
  // The most likely way to cut a word; `without` is a piece that must not occur.
  struct Path {
    double score = kRemoved;
    std::vector<std::size_t> pieces;
  };
  Path best_path(std::string_view word, std::size_t without = SIZE_MAX) const;

 private:
  template <class Use>
  void for_each_piece(std::string_view word, std::size_t begin, const Use& use) const;

  std::vector<std::string> pieces_;
  PieceTrie trie_;
  std::size_t longest_ = 0;                     // bytes of a piece
  std::vector<double> scores_, probabilities_;  // the last one is that of unknown()
  double lowest_ = 0;
};

}  // namespace hearth::tokenizer
