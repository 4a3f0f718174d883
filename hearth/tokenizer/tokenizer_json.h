#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/bert_tokenizer.h"

namespace hearth::tokenizer {

inline constexpr std::int32_t kMaxVocabulary = 1 << 24;  // a file with a larger id is refused

// tokenizer.json as Hugging Face's library writes it; `file` names it in errors. Anything but BERT's kind is an Error.
BertConfig parse_tokenizer_json(const io::Json& json, const std::string& file);
// Without the nodes that `make_tokenizer_json` always replaces.
io::Json without_rewritten_nodes(io::Json json);
// The new nodes over those that were read.
io::Json make_tokenizer_json(const BertTokenizer& tokenizer, io::Json read);

AddedToken parse_added_token(const io::Json& value, std::string_view file);
io::Json make_added_token(const AddedToken& token);  // without its id

}  // namespace hearth::tokenizer
