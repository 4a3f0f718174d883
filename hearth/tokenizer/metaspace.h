#pragma once

#include <string>

#include "hearth/io/json_fwd.h"

namespace hearth::tokenizer {

// The settings of the node Metaspace, which is a pre-tokenizer and a decoder.
struct Metaspace {
  enum class Prepend { always, first, never };  // first: only at the beginning of the original text

  std::string replacement = "\u2581";  // what a space becomes: one character
  Prepend prepend = Prepend::always;
  bool split = true;
};

Metaspace read_metaspace(const io::Json& node, const std::string& where);

io::Json make_metaspace(bool add_prefix_space);  // a pre-tokenizer or decoder

}  // namespace hearth::tokenizer
