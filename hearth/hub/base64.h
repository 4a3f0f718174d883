#pragma once

#include <string>
#include <string_view>

namespace hearth::hub {

std::string base64(std::string_view bytes);

}  // namespace hearth::hub
