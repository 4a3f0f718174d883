#pragma once

#include <memory>
#include <string>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/words.h"

namespace hearth::tokenizer {

// A node of tokenizer.json that splits a normalised text into words. Thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void split(Words& words) const = 0;

  // Whether the last step writes words in the alphabet of bytes (byte_alphabet.h), and how to leave that out for a
  // model that reads bytes.
  virtual bool ends_in_bytes() const { return false; }
  virtual void leave_bytes() {}
};

// `where` names the node in errors. A type that is not known is an Error.
std::unique_ptr<PreTokenizer> make_pre_tokenizer(const io::Json& node, const std::string& where);

}  // namespace hearth::tokenizer
