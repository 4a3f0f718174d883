#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/characters.h"

namespace hearth::tokenizer {

// A node of tokenizer.json that changes texts before they are split. Thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void normalize(Characters& characters) const = 0;
  // False only if the text stays as it is, and so does every part of it.
  virtual bool changes(std::string_view text) const = 0;
};

// `where` names the node in errors. A type that is not known is an Error.
std::unique_ptr<Normalizer> make_normalizer(const io::Json& node, const std::string& where);

std::string normalized(const Normalizer* normalizer, std::string_view text);  // null: the text itself

}  // namespace hearth::tokenizer
