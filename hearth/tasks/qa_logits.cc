#include "hearth/tasks/qa_logits.h"

#include <cstring>

namespace hearth::tasks {

QaLogitsTable::QaLogitsTable(std::int64_t features)
    : starts_(static_cast<std::size_t>(features)), ends_(starts_.size()) {}

void QaLogitsTable::add(std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output) {
  const float* start = output.logits[0].second.value().data<float>();
  const float* end = output.logits[1].second.value().data<float>();
  for (std::size_t s = 0; s < items.size(); ++s) {
    const auto feature = static_cast<std::size_t>(items[s]);
    starts_[feature].assign(start + batch.starts[s], start + batch.starts[s + 1]);
    ends_[feature].assign(end + batch.starts[s], end + batch.starts[s + 1]);
  }
}

void QaLogitsTable::gather(const parallel::Team& team) {
  if (team.size() == 1) return;
  for (const std::string& part : team.gather(packed())) unpack(part);
}

// For each feature with logits: its index, the number of logits, start logits, end logits.
std::string QaLogitsTable::packed() const {
  std::string bytes;
  const auto put = [&](const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); };
  for (std::size_t feature = 0; feature < starts_.size(); ++feature) {
    const std::size_t head[] = {feature, starts_[feature].size()};
    if (head[1] == 0) continue;
    put(head, sizeof head);
    put(starts_[feature].data(), head[1] * sizeof(float));
    put(ends_[feature].data(), head[1] * sizeof(float));
  }
  return bytes;
}

void QaLogitsTable::unpack(std::string_view bytes) {
  const auto take = [&](void* data, std::size_t size) {
    check(size <= bytes.size(), "[QaLogitsTable] the logits from another rank end too early");
    std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  };
  while (!bytes.empty()) {
    std::size_t head[2];
    take(head, sizeof head);
    check(head[0] < starts_.size(), "[QaLogitsTable] logits of feature {} of {}", head[0], starts_.size());
    for (auto* logits : {&starts_[head[0]], &ends_[head[0]]}) {
      logits->resize(head[1]);
      take(logits->data(), head[1] * sizeof(float));
    }
  }
}

std::vector<QaLogits> QaLogitsTable::all() const {
  std::vector<QaLogits> logits;
  logits.reserve(starts_.size());
  for (std::size_t f = 0; f < starts_.size(); ++f) logits.push_back({starts_[f], ends_[f]});
  return logits;
}

}  // namespace hearth::tasks
