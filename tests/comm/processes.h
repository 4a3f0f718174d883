// Ranks that are processes.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace hearth::comm {

// Runs body(rank) in `count` processes. Returns what each threw, or "" where it threw nothing; the victim, who may
// never end by itself, is killed after the others have ended.
inline std::vector<std::string> run_processes(int count, const std::function<void(int)>& body, int victim = -1) {
  struct Child {
    pid_t process;
    int output;
  };
  std::vector<Child> children;
  for (int rank = 0; rank < count; ++rank) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    children.push_back({fork(), ends[0]});
    if (children.back().process == 0) {
      std::string message;
      try {
        body(rank);
      } catch (const std::exception& error) {
        message = error.what();
      }
      _exit(write(ends[1], message.data(), message.size()) < 0);
    }
    close(ends[1]);
  }
  std::vector<std::string> messages;
  const auto end = [&](int rank) {
    const Child& child = children[static_cast<std::size_t>(rank)];
    if (rank == victim) kill(child.process, SIGKILL);
    char buffer[4096];
    ssize_t length = 0;
    while (rank != victim && (length = read(child.output, buffer, sizeof buffer)) > 0)
      messages[static_cast<std::size_t>(rank)].append(buffer, static_cast<std::size_t>(length));
    close(child.output);
    waitpid(child.process, nullptr, 0);
  };
  messages.resize(children.size());
  for (int rank = 0; rank < count; ++rank)
    if (rank != victim) end(rank);
  if (victim >= 0) end(victim);
  return messages;
}

}  // namespace hearth::comm
