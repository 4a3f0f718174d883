#pragma once

#include <array>
#include <cstdint>

#include "hearth/tokenizer/token_table.h"

namespace hearth::tokenizer {

// The ids of "<0x00>" to "<0xFF>", with which byte_fallback spells unknown characters; kNoToken where there is none.
std::array<std::int32_t, 256> byte_tokens(const TokenTable& tokens);

}  // namespace hearth::tokenizer
