#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/launch/process.h"
#include "hearth/launch/rank_output.h"

namespace hearth::launch {

struct RankStart {
  int rank = 0;  // -1: mpirun, whose lines bear the ranks
  ProcessStart start;
};

// Which rank a line of mpirun's output is from, and the line itself; -1 where it is mpirun's own.
using LineOrigin = std::pair<int, std::string_view> (*)(std::string_view line);

struct SupervisorOptions {
  OutputOptions output;
  LineOrigin origin = nullptr;
  std::chrono::milliseconds grace{5000};  // from the request to end to the kill
};

struct JobEnd {
  int status = 0;  // of the rank that failed first, 128 + N where signal N ended it
  int failed_rank = -1;
  std::string reason;                   // "ended with status 3"
  std::vector<std::string> last_lines;  // of that rank
  bool interrupted = false;             // somebody sent the launcher a signal
};

// Runs the ranks to their end. One that fails ends all others, with everything they have started. SIGINT, SIGTERM,
// SIGHUP and SIGQUIT are passed on and end the job, a second one at once; SIGUSR1, SIGUSR2 and SIGCONT are passed on.
JobEnd supervise(const std::vector<RankStart>& starts, const SupervisorOptions& options);

}  // namespace hearth::launch
