#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/normalizer.h"

namespace hearth::tokenizer {

// The node Precompiled: SentencePiece's map of characters, a trie as a double array and the texts that it points to.
class CharacterMap final : public Normalizer {
 public:
  // `bytes` as a SentencePiece model has them.
  CharacterMap(std::string_view bytes, const std::string& where);

  void normalize(Characters& characters) const override;
  bool changes(std::string_view text) const override;

 private:
  // What the shortest beginning of `text` that is in the map becomes; null if there is none.
  const char* replacement(std::string_view text) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;                 // each ends with a zero byte
  std::array<bool, 128> is_changed_;  // ASCII characters
};

}  // namespace hearth::tokenizer
