#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hearth::cpu {

struct Topology {
  // The machine.
  int sockets = 0, cores = 0, processors = 0, numa_nodes = 0;  // physical cores; processors are hardware threads
  std::size_t l1_data_bytes = 0, l2_bytes = 0, l3_bytes = 0;   // of one cache; 0 if there is none
  std::size_t memory_bytes = 0;

  // Cores and processors of this process by its CPU mask (or OMP_PLACES), and the CPU quota of its control group.
  int usable_cores = 0, usable_processors = 0;
  std::optional<double> processor_quota;
};

const Topology& topology();
std::string hwloc_version();

struct NumaNode {
  int id = 0, package = 0;
  std::vector<std::vector<int>> cores;  // per physical core the numbers of its hardware threads
};

// The cores that this process may use, read at each call; nodes without such a core are left out. With HWLOC_SYNTHETIC
// or HWLOC_XMLFILE it is a described machine, not the real one: nothing is bound to it, and no control group limits it.
struct UsableMachine {
  std::vector<NumaNode> nodes;
  std::optional<double> processor_quota;
  bool real = true;
};
UsableMachine usable_machine();

// The hardware threads that a process may run on; empty if the system does not say.
std::vector<int> processors_of_process(int pid);

// Binds the calling process and its future children to these hardware threads. Memory of the calling thread, and of
// threads and processes that it starts from now on, comes from these nodes while they have some (empty: from anywhere).
void bind_process(const std::vector<int>& processors, const std::vector<int>& nodes);

}  // namespace hearth::cpu
