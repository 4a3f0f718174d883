#pragma once

#include <sys/types.h>

#include "hearth/launch/pipe.h"

namespace hearth::launch {

// A process that outlives the launcher just long enough to kill the process groups it was told of, where the launcher
// is killed itself: the kernel would end the ranks alone, not what they have started.
class OrphanGuard {
 public:
  OrphanGuard();
  ~OrphanGuard();
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;

  void watch_this_process();  // the calling one, which leads a group

 private:
  Pipe told_;
  pid_t pid_;
};

// Once the calling process, whatever it becomes, has ended, what it leaves behind in its process group is killed; and
// it ends when its parent does. For a rank that another program has started: not every mpirun sees to it when it is
// killed.
void guard_this_process();

}  // namespace hearth::launch
