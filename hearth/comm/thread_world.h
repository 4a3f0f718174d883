#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "hearth/comm/process_group.h"

namespace hearth::comm {

struct ThreadWorldOptions {
  std::chrono::milliseconds timeout{std::chrono::minutes(1)};
  std::size_t max_message_bytes = std::size_t{1} << 30;
};

// A world inside this process: body runs once a rank, each on a thread of its own. The first exception is rethrown
// when all have ended; it makes the others fail in their operations.
void run_threads(int size, const std::function<void(ProcessGroup&)>& body, const ThreadWorldOptions& options = {});

// The group of one process: the same operations among one rank.
std::unique_ptr<ProcessGroup> self_group();

}  // namespace hearth::comm
