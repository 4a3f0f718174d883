#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/tokenizer/added_tokens.h"
#include "hearth/tokenizer/bert_normalizer.h"
#include "hearth/tokenizer/token_table.h"
#include "hearth/tokenizer/tokenizer_class.h"

// Nodes of tokenizer.json.
namespace hearth::tokenizer {

AddedToken parse_added_token(const io::Json& value, std::string_view file);
io::Json make_added_token(const AddedToken& token);  // without its id

struct Nodes {
  io::Json normalizer, pre_tokenizer, post_processor, decoder, model;
};
io::Json make_tokenizer_json(Nodes nodes);  // no added tokens

// A special token and its id.
using TokenId = std::pair<std::string, std::int32_t>;
// The parts of a text and of a pair by their names, such as {"[CLS]", "$A", "[SEP]"}, each with its type, "$B:1"; the
// type is 0 if none is named.
io::Json make_template(const std::vector<std::string>& single, const std::vector<std::string>& pair,
                       const std::vector<TokenId>& tokens);

// ByteLevel: a pre-tokenizer, post-processor or decoder.
io::Json make_byte_level(bool add_prefix_space, bool trim_offsets, bool use_regex);

io::Json make_bert_normalizer(const NormalizerOptions& options);
// BERT's tokenizer, as transformers makes it from a vocab.txt. `source` names the vocabulary in errors.
io::Json make_bert_json(Vocabulary vocabulary, const NormalizerOptions& options, const SpecialNames& names,
                        const std::string& source);

}  // namespace hearth::tokenizer
