#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {

inline constexpr std::int32_t kMaxVocabulary = 1 << 24;  // a file with a larger id is refused

// The tokens of a model by id, and ids by token. Ids without a token have an empty one.
class TokenTable {
 public:
  static constexpr std::int32_t kNoToken = -1;

  explicit TokenTable(Vocabulary tokens);  // if two tokens are equal, the last counts; empty strings are not found
  TokenTable(const TokenTable&) = delete;
  TokenTable(TokenTable&&) = default;
  TokenTable& operator=(TokenTable&&) = default;

  const Vocabulary& all() const { return tokens_; }
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }  // the largest id and 1
  std::int32_t find(std::string_view token) const;
  // Null if there is no such token.
  const std::string* token(std::int32_t id) const;

 private:
  Vocabulary tokens_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
};

// {"token": id, ...}. An id must be a whole number; there may be gaps, but not too many, and no id twice.
Vocabulary read_vocab(const io::Json& vocab, const std::string& where);
io::Json make_vocab(const TokenTable& tokens);

}  // namespace hearth::tokenizer
