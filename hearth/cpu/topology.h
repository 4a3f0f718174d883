#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hearth::cpu {

struct Topology {
  // The machine.
  int sockets = 0, cores = 0, processors = 0, numa_nodes = 0;  // cores are physical, processors logical
  std::size_t l1_data_bytes = 0, l2_bytes = 0, l3_bytes = 0;   // of one cache; 0 where there is none
  std::size_t memory_bytes = 0;

  // What this process may run on: its CPU mask (or OMP_PLACES), and the processor time of its control group.
  int usable_cores = 0, usable_processors = 0;
  std::optional<double> processor_quota;
};

const Topology& topology();
std::string hwloc_version();

struct NumaNode {
  int id = 0, package = 0;
  std::vector<std::vector<int>> cores;  // of each physical core its hardware threads, by the system's numbers
};

// What this process may run on, read anew; nodes without such a core are left out. HWLOC_SYNTHETIC or HWLOC_XMLFILE
// describe another machine, which is not real: nothing is bound there, and no control group limits it.
struct UsableMachine {
  std::vector<NumaNode> nodes;
  std::optional<double> processor_quota;
  bool real = true;
};
UsableMachine usable_machine();

// The hardware threads that a process may run on; empty where the system does not say.
std::vector<int> processors_of_process(int pid);

// Keeps the calling process, and what it starts, on these hardware threads; memory of the calling thread, and of what
// it starts from now on, comes from these nodes as long as they have some (none: from anywhere).
void bind_process(const std::vector<int>& processors, const std::vector<int>& nodes);

}  // namespace hearth::cpu
