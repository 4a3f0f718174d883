#include "hearth/tasks/qa_logits.h"

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

std::vector<QaLogits> QaLogitsTable::all() const {
  std::vector<QaLogits> logits;
  logits.reserve(starts_.size());
  for (std::size_t f = 0; f < starts_.size(); ++f) logits.push_back({starts_[f], ends_[f]});
  return logits;
}

}  // namespace hearth::tasks
