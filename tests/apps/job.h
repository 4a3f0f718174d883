// The program in several processes of this host, without a launcher.
#pragma once

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "hearth/launch/plan/ports.h"
#include "tests/apps/program.h"

namespace hearth {

inline bool has_plugin(const std::string& name) {
  const fs::path build = fs::path(kProgram).parent_path().parent_path();
  return fs::exists(build / "lib/hearth" / ("libhearth_comm_" + name + ".so"));
}

// The processes of one job, each started from a shell of its own, which it replaces.
class Job {
 public:
  Job(const fs::path& folder, const std::vector<std::string>& arguments_by_rank, const std::string& variables = "")
      : folder_(folder) {
    const int port = launch::free_port();
    const auto size = static_cast<int>(arguments_by_rank.size());
    for (int rank = 0; rank < size; ++rank) {
      const std::string command = fmt::format(
          "cd {0} && exec env HEARTH_CACHE={0}/.cache RANK={1} WORLD_SIZE={2} LOCAL_RANK={1} LOCAL_WORLD_SIZE={2} "
          "MASTER_ADDR=127.0.0.1 MASTER_PORT={3} {4} {5} {6} > .out{1} 2> .err{1} < /dev/null",
          folder.string(), rank, size, port, variables, kProgram, arguments_by_rank[static_cast<std::size_t>(rank)]);
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
      }
      pids_.push_back(pid);
    }
  }
  ~Job() {
    for (const pid_t pid : pids_)
      if (pid > 0) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
      }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }
  void kill(int rank) { ::kill(pids_[static_cast<std::size_t>(rank)], SIGKILL); }

  Outcome wait(int rank) {
    int status = 0;
    ::waitpid(pids_[static_cast<std::size_t>(rank)], &status, 0);
    pids_[static_cast<std::size_t>(rank)] = 0;
    const auto text = [&](const char* name) { return io::read_file(folder_ / (name + std::to_string(rank))); };
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text(".out"), text(".err")};
  }

 private:
  fs::path folder_;
  std::vector<pid_t> pids_;
};

}  // namespace hearth
