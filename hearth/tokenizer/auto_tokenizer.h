#pragma once

#include <memory>
#include <string>

#include "hearth/base/api.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth {

// As in transformers: the tokenizer of a model. `name` is a folder, or a name in the local cache of the Hub.
struct HEARTH_API AutoTokenizer {
  static std::shared_ptr<const tokenizer::Tokenizer> from_pretrained(const std::string& name);
};

}  // namespace hearth
