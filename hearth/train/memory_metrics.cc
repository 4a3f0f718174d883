#include "hearth/train/memory_metrics.h"

#include <algorithm>
#include <utility>

namespace hearth {

MemoryStage::MemoryStage(MemoryMetrics& metrics, std::string name) : metrics_(metrics), name_(std::move(name)) {
  if (!metrics_.enabled_ || metrics_.in_stage_) return;
  metrics_.in_stage_ = true;
  at_start_ = cpu::resident_bytes();
  peak_.emplace();
}

MemoryStage::~MemoryStage() {
  if (!peak_) return;
  metrics_.in_stage_ = false;
  if (name_ != "init") return;
  metrics_.of_init_ = measured();
  metrics_.of_init_.set("before_init_mem_cpu", at_start_);
}

Metrics MemoryStage::measured() const {
  const auto start = static_cast<std::int64_t>(at_start_), end = static_cast<std::int64_t>(cpu::resident_bytes()),
             peak = static_cast<std::int64_t>(peak_->bytes());
  return {{name_ + "_mem_cpu_alloc_delta", end - start},
          {name_ + "_mem_cpu_peaked_delta", std::max<std::int64_t>(0, peak - end)}};
}

void MemoryStage::add_to(Metrics& results) const {
  if (!peak_) return;
  results.update(std::exchange(metrics_.of_init_, Metrics()));
  results.update(measured());
}

}  // namespace hearth
