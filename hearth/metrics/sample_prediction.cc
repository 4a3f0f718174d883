#include "hearth/metrics/sample_prediction.h"

#include <algorithm>

namespace hearth {
namespace {

void append_spread(std::vector<std::int64_t>& chosen, const std::vector<std::int64_t>& items, std::int64_t most) {
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t count = std::min(most, size);
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(items[static_cast<std::size_t>(i * size / count)]);
}

}  // namespace

std::vector<std::int64_t> sample_items(std::int64_t items, std::int64_t most,
                                       const std::function<bool(std::int64_t item)>& is_right) {
  std::vector<std::int64_t> wrong, right, chosen;
  for (std::int64_t item = 0; item < items; ++item) (is_right(item) ? right : wrong).push_back(item);
  append_spread(chosen, wrong, most);
  append_spread(chosen, right, most);
  return chosen;
}

}  // namespace hearth
