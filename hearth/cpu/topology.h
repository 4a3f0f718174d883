#pragma once

#include <cstddef>
#include <optional>
#include <string>

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

}  // namespace hearth::cpu
