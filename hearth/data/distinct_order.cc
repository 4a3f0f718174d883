#include "hearth/data/distinct_order.h"

#include <algorithm>
#include <list>
#include <unordered_set>

namespace hearth::data {
namespace {

// The items of a batch and their values.
class Batch {
 public:
  Batch(std::span<const std::int64_t> values, std::size_t width) : values_(values), width_(width) {}

  bool take(std::int64_t item) {
    const auto own = values_.subspan(static_cast<std::size_t>(item) * width_, width_);
    if (std::ranges::any_of(own, [&](std::int64_t value) { return seen_.contains(value); })) return false;
    seen_.insert(own.begin(), own.end());
    items_.push_back(item);
    return true;
  }
  const std::vector<std::int64_t>& items() const { return items_; }
  std::int64_t size() const { return std::ssize(items_); }

 private:
  std::span<const std::int64_t> values_;
  std::size_t width_;
  std::unordered_set<std::int64_t> seen_;
  std::vector<std::int64_t> items_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> distinct_order(const std::vector<std::int64_t>& order,
                                                        std::span<const std::int64_t> values, std::size_t width,
                                                        std::int64_t batch_size) {
  std::list<std::int64_t> remaining(order.begin(), order.end());
  std::vector<std::int64_t> result;
  while (result.size() < order.size()) {
    const auto wanted = std::min(batch_size, std::ssize(order) - std::ssize(result));  // the last batch may be shorter
    Batch batch(values, width);
    for (auto item = remaining.begin(); item != remaining.end() && batch.size() < wanted;)
      item = batch.take(*item) ? remaining.erase(item) : std::next(item);
    for (auto item = order.begin(); item != order.end() && batch.size() < wanted; ++item) batch.take(*item);
    if (batch.size() < wanted) return std::nullopt;
    result.insert(result.end(), batch.items().begin(), batch.items().end());
  }
  return result;
}

}  // namespace hearth::data
