#pragma once

#include <string_view>

#include "hearth/tokenizer/characters.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {

// NFD and NFKD.
void decompose(Characters& characters, Decomposing kind);
// NFC and NFKC.
void compose(Characters& characters, Decomposing kind);

// False only if the text is in this form already.
bool decomposing_changes(std::string_view text, Decomposing kind);
bool composing_changes(std::string_view text, Decomposing kind);

}  // namespace hearth::tokenizer
