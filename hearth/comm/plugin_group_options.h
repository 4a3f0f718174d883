#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace hearth::comm {

struct PluginGroupOptions {
  std::chrono::milliseconds timeout{std::chrono::minutes(30)};  // for joining, and for each operation
  std::chrono::milliseconds beat{500};                          // between two signs of life (monitor.h)
  std::chrono::milliseconds silence{30000};                     // without a sign of life before a warning
  std::chrono::milliseconds grace{2000};                        // for the plug-in to return once asked to give up
  std::size_t max_message_bytes = std::size_t{1} << 30;
  std::string address = "127.0.0.1";
  std::vector<int> cpus;  // the communication thread and the plug-in's own threads are bound to these; empty: not bound
};

}  // namespace hearth::comm
