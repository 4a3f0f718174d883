#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hearth/tokenizer/model.h"
#include "hearth/tokenizer/pair_table.h"

namespace hearth::tokenizer {

// Byte-pair encoding: a word starts as single characters, and the two neighbouring tokens whose merge comes first in
// the list are merged, the leftmost first, until no merge is left.
class Bpe final : public Model {
 public:
  using Merges = std::vector<std::pair<std::string, std::string>>;
  struct Options {
    Merges merges;
    std::optional<std::string> unk_token = {}, continuing_subword_prefix = {}, end_of_word_suffix = {};
    bool fuse_unk = false;       // neighbouring unknown characters are one token
    bool byte_fallback = false;  // unknown characters become the tokens <0x00> to <0xFF>
    bool ignore_merges = false;  // a word that is a token stays whole
    bool spells_merges = false;  // tokenizer.json has "a b" for a merge instead of ["a", "b"], as older ones do
  };
  Bpe(TokenTable tokens, Options options, const std::string& where);

  const Options& options() const { return options_; }
  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  std::size_t independent_part(std::string_view word) const override;
  std::int32_t unk_id() const override { return unk_id_; }
  bool marks_continuations() const override { return options_.continuing_subword_prefix.has_value(); }
  void write(io::Json& node) const override;
  bool can_read_bytes() const override;
  void read_bytes() override;

 private:
  struct Symbol {
    std::int32_t id;
    std::uint32_t bytes;
  };
  struct Merge {
    std::uint32_t rank;
    std::int32_t id;
  };

  void add_merges(const std::string& where);
  std::int32_t id_of_word(std::string_view word) const;
  void start(std::string_view word, std::vector<Symbol>& symbols) const;
  void append_unknown(std::string_view text, std::uint32_t bytes, std::optional<Symbol>& unknown,
                      std::vector<Symbol>& symbols) const;
  void merge_few(std::vector<Symbol>& symbols) const;
  void merge_many(std::vector<Symbol>& symbols) const;
  bool is_known(char32_t c) const;
  bool may_join(char32_t before, char32_t after) const;

  Options options_;
  PairTable<Merge> merges_;
  std::int32_t unk_id_ = TokenTable::kNoToken;
  std::array<std::int32_t, 256> byte_ids_;                 // of <0x00> to <0xFF>
  std::unordered_map<char32_t, std::int32_t> characters_;  // the tokens of one character
  std::unordered_set<std::uint64_t> junctions_;            // characters at which some merge joins its two tokens
  bool splits_ = false;                                    // words may be cut where no merge joins

  bool reads_bytes_ = false;
  std::array<std::int32_t, 256> alphabet_{};  // the token of each byte
  std::bitset<256 * 256> byte_junctions_;
  std::unordered_map<std::string, std::int32_t> ids_of_bytes_;  // tokens spelled in bytes, for ignore_merges
};

}  // namespace hearth::tokenizer
