#include "hearth/comm/failure_sentence.h"

#include <fmt/format.h>

#include "hearth/base/whole_number.h"

namespace hearth::comm {
namespace {

constexpr std::string_view kRank = "rank ", kFailed = " failed: ";

}  // namespace

std::string failure_sentence(int rank, std::string_view sentence) {
  return fmt::format("{}{}{}{}", kRank, rank, kFailed, sentence);
}

std::optional<int> failed_rank(std::string_view text) {
  const std::size_t end = text.find(kFailed);
  if (!text.starts_with(kRank) || end == text.npos) return std::nullopt;
  return whole_number<int>(text.substr(kRank.size(), end - kRank.size()), 0);
}

}  // namespace hearth::comm
