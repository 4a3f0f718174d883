#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/cpu/system.h"
#include "hearth/launch/start/process.h"
#include "hearth/launch/watch/rank_output.h"

namespace hearth::launch {

struct RankStart {
  int rank = 0;  // -1: mpirun, which marks each line with its rank
  ProcessStart start;
};

// Splits a line of mpirun's output into the rank that wrote it, -1 for mpirun itself, and the line.
using LineOrigin = std::pair<int, std::string_view> (*)(std::string_view line);

struct SupervisorOptions {
  OutputOptions output;
  LineOrigin origin = nullptr;
  std::chrono::milliseconds grace{5000};              // from SIGTERM to SIGKILL, after a failure
  std::chrono::milliseconds interrupt_grace{300000};  // from a signal to the launcher to SIGKILL: ranks save first
  std::function<std::size_t()> oom_kills = cpu::oom_kills;
};

struct JobEnd {
  int status = 0;                       // of the rank that failed first; 128 + N if signal N ended it
  int failed_rank = -1;                 // the first to fail, or the one that it names as the reason
  std::string reason;                   // "ended with status 3"
  std::vector<std::string> last_lines;  // of that rank
  bool interrupted = false;             // a signal to the launcher ended the job
};

// Runs the ranks until all have ended. The first rank that fails ends all others, with all processes that they started.
// SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to the ranks and end the job; a second one kills it at once.
// SIGUSR1, SIGUSR2 and SIGCONT are passed on. All that goes on also while nobody reads this process's output; the ranks
// then wait once their pipes are full.
JobEnd supervise(const std::vector<RankStart>& starts, const SupervisorOptions& options);

}  // namespace hearth::launch
