#pragma once

#include <cstddef>
#include <span>

#include "hearth/tokenizer/characters.h"

namespace hearth::tokenizer {

// The end of the grapheme cluster that begins at `begin`. Clusters of six bytes or more may differ from Unicode's,
// which nobody notices: the precompiled maps look at shorter ones alone.
std::size_t cluster_end(std::span<const Character> characters, std::size_t begin);

}  // namespace hearth::tokenizer
