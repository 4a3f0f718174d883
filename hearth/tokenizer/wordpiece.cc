#include "hearth/tokenizer/wordpiece.h"

#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {

WordPiece::WordPiece(TokenTable tokens, Options options, const std::string& where)
    : Model(std::move(tokens)),
      options_(std::move(options)),
      trie_(this->tokens().all()),
      continuation_(trie_.descend(PieceTrie::kRoot, options_.continuing_subword_prefix)),
      unk_id_(this->tokens().find(options_.unk_token)) {
  check(unk_id_ != TokenTable::kNoToken, "{} has no token \"{}\", which a WordPiece tokenizer cannot do without", where,
        options_.unk_token);
}

void WordPiece::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  const std::size_t before = pieces.size();
  const auto emit = [&](std::int32_t id, std::size_t begin, std::size_t end) {
    pieces.push_back({id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  };
  if (count_code_points(word) <= options_.max_input_chars_per_word && cut(word, emit)) return;
  pieces.resize(before);
  emit(unk_id_, 0, word.size());
}

void WordPiece::write(io::Json& node) const { node["vocab"] = make_vocab(tokens()); }

}  // namespace hearth::tokenizer
