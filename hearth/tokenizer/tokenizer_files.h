#pragma once

#include "hearth/io/json.h"

namespace hearth::tokenizer {

// The JSON files beside tokenizer.json that a tokenizer was read from, which saving it builds on: keys that Hearth does
// not interpret are written as they were read.
struct TokenizerFiles {
  io::Json settings = io::Json::object();            // tokenizer_config.json
  io::Json special_tokens_map = io::Json::object();  // special_tokens_map.json
};

// As in transformers: special_tokens_map.json counts more than tokenizer_config.json, but is not read where the latter
// has an added_tokens_decoder.
inline bool special_tokens_map_counts(const io::Json& settings) { return !settings.contains("added_tokens_decoder"); }

}  // namespace hearth::tokenizer
