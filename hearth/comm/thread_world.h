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
  bool shares_memory = false;  // the ranks behave like processes with ProcessGroup::share()
};

// A world inside this process: body runs once per rank, each on its own thread. The first exception is rethrown when
// all have ended; it makes the operations of the other ranks fail.
void run_threads(int size, const std::function<void(ProcessGroup&)>& body, const ThreadWorldOptions& options = {});

// The group of a single process: the same operations with one rank.
std::unique_ptr<ProcessGroup> self_group();

}  // namespace hearth::comm
