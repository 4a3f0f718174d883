#include "hearth/tokenizer/byte_tokens.h"

#include <fmt/format.h>

namespace hearth::tokenizer {

std::array<std::int32_t, 256> byte_tokens(const TokenTable& tokens) {
  std::array<std::int32_t, 256> ids{};
  for (std::size_t byte = 0; byte < ids.size(); ++byte) ids[byte] = tokens.find(fmt::format("<0x{:02X}>", byte));
  return ids;
}

}  // namespace hearth::tokenizer
