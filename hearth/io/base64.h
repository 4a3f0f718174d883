#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::io {

std::optional<std::string> decode_base64(std::string_view text);  // nothing if it is not Base64
std::string encode_base64(std::string_view bytes);

}  // namespace hearth::io
