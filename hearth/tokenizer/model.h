#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/token_table.h"

namespace hearth::tokenizer {

// A token of a word, and the bytes [begin, end) of the word that it stands for.
struct Piece {
  std::int32_t id;
  std::uint32_t begin, end;
};

// The node "model" of tokenizer.json: it cuts words into tokens of its vocabulary. Thread-safe.
class Model {
 public:
  virtual ~Model() = default;

  const TokenTable& tokens() const { return tokens_; }
  // Appends the tokens of a word, which is UTF-8 and not empty.
  virtual void tokenize(std::string_view word, std::vector<Piece>& pieces) const = 0;
  // The length of a beginning of the word whose tokens do not depend on the rest, nor those of the rest on it.
  virtual std::size_t independent_part(std::string_view word) const { return word.size(); }
  virtual std::int32_t unk_id() const { return TokenTable::kNoToken; }
  virtual bool marks_continuations() const { return false; }  // tokens that go on with a word begin with a prefix
  // Writes the vocabulary into the node that the model was made from.
  virtual void write(io::Json& node) const = 0;

  // Whether the model can take words as plain bytes instead of the alphabet of byte_alphabet.h, and the switch to that.
  virtual bool can_read_bytes() const { return false; }
  virtual void read_bytes() {}

 protected:
  explicit Model(TokenTable tokens) : tokens_(std::move(tokens)) {}

 private:
  TokenTable tokens_;
};

// Takes the vocabulary out of the node. `where` names the file in errors. `read_from_json`: the node was not made here.
std::unique_ptr<Model> make_model(io::Json& node, const std::string& where, bool read_from_json);

}  // namespace hearth::tokenizer
