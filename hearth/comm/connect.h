#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/comm/process_group.h"
#include "hearth/comm/world.h"

namespace hearth::comm {

struct ConnectOptions {
  std::optional<std::string> backend;  // gloo, mpi, ccl; without it chosen as Accelerate does
  std::chrono::seconds timeout{1800};
  std::size_t max_message_bytes = std::size_t{1} << 30;  // to the library at once; less in tests
  std::vector<int> cpus;                                 // set aside for communication; empty: its thread runs anywhere
};

// ccl where its plug-in is there and CCL_WORKER_COUNT asks for it, mpi where an mpirun started this process, else gloo.
std::string choose_backend(const World& world);

// The group of this job's processes; for one process the group `self`, which needs no engine.
std::unique_ptr<ProcessGroup> connect(const World& world, const ConnectOptions& options);

}  // namespace hearth::comm
