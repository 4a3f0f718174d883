#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "hearth/cpu/system.h"
#include "hearth/metrics/metrics.h"

namespace hearth {

// The CPU part of transformers' TrainerMemoryTracker. For each stage (init, train, eval, test), in bytes of resident
// memory: STAGE_mem_cpu_alloc_delta, the growth from its start to its end; STAGE_mem_cpu_peaked_delta, how far its peak
// lay above its end. The metrics of init, and before_init_mem_cpu, go into the results of the first other stage.
class MemoryMetrics {
 public:
  explicit MemoryMetrics(bool enabled) : enabled_(enabled) {}

 private:
  friend class MemoryStage;

  bool enabled_, in_stage_ = false;
  Metrics of_init_;
};

// A stage from construction to destruction. A stage inside another one measures nothing: an evaluation during training
// counts as training.
class MemoryStage {
 public:
  MemoryStage(MemoryMetrics& metrics, std::string name);
  ~MemoryStage();
  MemoryStage(const MemoryStage&) = delete;
  MemoryStage& operator=(const MemoryStage&) = delete;

  // To be called at the stage's end, except by init, which has no results of its own.
  void add_to(Metrics& results) const;

 private:
  Metrics measured() const;

  MemoryMetrics& metrics_;
  std::string name_;
  std::size_t at_start_ = 0;
  std::optional<cpu::PeakMemory> peak_;  // none: the stage measures nothing
};

}  // namespace hearth
