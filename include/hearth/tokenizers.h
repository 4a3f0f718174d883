// Tokenizers of Hugging Face models.
#pragma once

#include "hearth/tokenizer/auto_tokenizer.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth {

using tokenizer::Encoding, tokenizer::Tokenizer;

}  // namespace hearth
