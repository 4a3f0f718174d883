#include "hearth/train/item_values.h"

#include <cstring>

#include "hearth/base/check.h"

namespace hearth {

void ItemValues::gather(const parallel::Team& team) {
  if (team.size() == 1) return;
  for (const std::string& part : team.gather(packed())) unpack(part);
}

// For each row that is not empty: its item, the number of values, the values.
std::string ItemValues::packed() const {
  std::string bytes;
  const auto put = [&](const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); };
  for (std::size_t item = 0; item < rows_.size(); ++item) {
    const std::size_t head[] = {item, rows_[item].size()};
    if (head[1] == 0) continue;
    put(head, sizeof head);
    put(rows_[item].data(), head[1] * sizeof(float));
  }
  return bytes;
}

void ItemValues::unpack(std::string_view bytes) {
  const auto take = [&](void* data, std::size_t size) {
    check(size <= bytes.size(), "[ItemValues] the values from another rank end too early");
    std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  };
  while (!bytes.empty()) {
    std::size_t head[2];
    take(head, sizeof head);
    check(head[0] < rows_.size(), "[ItemValues] values of item {} of {}", head[0], rows_.size());
    rows_[head[0]].resize(head[1]);
    take(rows_[head[0]].data(), head[1] * sizeof(float));
  }
}

}  // namespace hearth
