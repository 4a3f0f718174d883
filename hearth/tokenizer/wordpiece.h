#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/tokenizer/model.h"
#include "hearth/tokenizer/piece_trie.h"

namespace hearth::tokenizer {

// A word is cut into the longest token of the vocabulary that begins it, then the longest that continues it, and so on;
// a word that cannot be cut so becomes one unknown token.
class WordPiece final : public Model {
 public:
  struct Options {
    std::string unk_token = "[UNK]";
    std::string continuing_subword_prefix = "##";
    std::int64_t max_input_chars_per_word = 100;
  };
  WordPiece(TokenTable tokens, Options options, const std::string& where);

  const Options& options() const { return options_; }
  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  std::int32_t unk_id() const override { return unk_id_; }
  bool marks_continuations() const override { return !options_.continuing_subword_prefix.empty(); }
  void write(io::Json& node) const override;

  // Calls `emit(id, begin, end)` for each token of the word; false: it cannot be cut, and what was emitted is void.
  template <class Emit>
  bool cut(std::string_view word, const Emit& emit) const {
    for (std::size_t begin = 0; begin < word.size();) {
      PieceTrie::Node node = begin == 0 ? PieceTrie::kRoot : continuation_;
      std::int32_t longest = PieceTrie::kNoToken;
      std::size_t end = begin;
      for (std::size_t at = begin; at < word.size() && node != PieceTrie::kNowhere;) {
        node = trie_.child(node, word[at++]);
        if (node != PieceTrie::kNowhere && trie_.token(node) != PieceTrie::kNoToken) {
          longest = trie_.token(node);
          end = at;
        }
      }
      if (longest == PieceTrie::kNoToken) return false;
      emit(longest, begin, end);
      begin = end;
    }
    return true;
  }

 private:
  Options options_;
  PieceTrie trie_;
  PieceTrie::Node continuation_;  // the node of "##", where tokens that continue a word begin
  std::int32_t unk_id_;
};

}  // namespace hearth::tokenizer
