#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace hearth::comm {

struct EngineOptions {
  std::chrono::milliseconds timeout{std::chrono::minutes(30)};  // of joining and of each operation
  std::chrono::milliseconds beat{500};                          // between signs of life
  std::chrono::milliseconds grace{2000};                        // for the engine to return once asked to give up
  std::size_t max_message_bytes = std::size_t{1} << 30;
  std::string address = "127.0.0.1";
  std::vector<int> cpus;  // that the communication thread and those of the engine are bound to; empty: not bound
};

}  // namespace hearth::comm
