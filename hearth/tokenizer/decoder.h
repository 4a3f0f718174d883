#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/io/json_fwd.h"

namespace hearth::tokenizer {

// A node of tokenizer.json that turns tokens back into text. Thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // The text is what the result has, joined.
  virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

// `where` names the node in errors. A type that is not known is an Error.
std::unique_ptr<Decoder> make_decoder(const io::Json& node, const std::string& where);

}  // namespace hearth::tokenizer
