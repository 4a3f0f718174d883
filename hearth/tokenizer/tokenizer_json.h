#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/bert_tokenizer.h"

namespace hearth::tokenizer {

inline constexpr std::int32_t kMaxVocabulary = 1 << 24;  // ids of files are below it

// tokenizer.json as Hugging Face's library writes it. Anything but BERT's kind is an Error.
BertConfig read_tokenizer_json(const std::filesystem::path& file);
io::Json make_tokenizer_json(const BertTokenizer& tokenizer);

AddedToken parse_added_token(const io::Json& value, std::string_view file);
io::Json make_added_token(const AddedToken& token);  // without its id

}  // namespace hearth::tokenizer
