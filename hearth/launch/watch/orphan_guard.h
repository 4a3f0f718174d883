#pragma once

#include <sys/types.h>

#include "hearth/launch/start/pipe.h"

namespace hearth::launch {

// A child process that kills the process groups of the ranks if the launcher itself is killed. The kernel would then
// kill the ranks, but not the processes that they have started.
class OrphanGuard {
 public:
  OrphanGuard();
  ~OrphanGuard();
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;

  void watch_this_process();  // adds the calling process's group; called by its leader
  void forget(pid_t group);   // the group has ended

 private:
  void tell(pid_t number);

  Pipe told_;
  pid_t pid_;
};

// For a rank that another program has started: once the calling process (or the program it becomes) has ended, the rest
// of its process group is killed; and it ends when its parent does. Not every mpirun does that when it is killed.
void guard_this_process();

}  // namespace hearth::launch
