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
  std::optional<std::string> backend;  // one of backend_names(); unset: preferred_backend()
  std::chrono::seconds timeout{1800};
  std::size_t max_message_bytes = std::size_t{1} << 30;  // per call of the library; less in tests
  std::vector<int> cpus;                                 // reserved for communication; empty: its thread runs anywhere
};

// Joins the other processes of this job. For one process it returns the group `self`, which needs no plug-in.
std::unique_ptr<ProcessGroup> connect(const World& world, const ConnectOptions& options);

}  // namespace hearth::comm
