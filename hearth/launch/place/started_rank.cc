// Placement of a rank that another program has started: mpirun, srun, torchrun or a shell script. There is no launcher
// of ours that knows all ranks of the host, so each rank finds its own share.
//
// Terms:
//   starter   the process that started the ranks. Wrappers between it and the rank (a shell, `timeout`) do not count.
//   bound     the starter gave this rank its own CPU mask (mpirun --bind-to core). Otherwise the rank has inherited the
//             starter's mask, and so have all other ranks of the host.
//   turn      a rank's time on its hardware threads before it moves to those of the next rank (cpu/rotation.h).
//
// place_started_rank decides which case it is by comparing its own mask with the starter's:
//   the masks differ  keep to the own mask: place() for one rank, with its part of the CPU quota.
//   they are equal    all ranks of the host have this mask. Each computes the same placement of all of them and takes
//                     the entry of its local rank; nothing needs to be exchanged.
// place_this_process applies the result. It does not bind if the rank is alone on its host or the OpenMP variables of
// the user or of `hearth launch` bind its threads already.
// take_turns runs later, when the ranks can talk: they gather the hardware threads and the node of each rank, and
// rotate if all ranks have the same number of them, all differ, and all are in one node.

#include "hearth/launch/place/started_rank.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "hearth/base/environment.h"
#include "hearth/base/log.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/rotation.h"
#include "hearth/launch/start/user_environment.h"

namespace hearth::launch {
namespace {

std::vector<int> processors_of(const cpu::UsableMachine& machine) {
  std::vector<int> all;
  for (const cpu::NumaNode& node : machine.nodes)
    for (const Place& core : node.cores) all.insert(all.end(), core.begin(), core.end());
  std::ranges::sort(all);
  return all;
}

// 0 if the system does not say.
pid_t parent_of(pid_t process) {
  constexpr std::string_view kName = "PPid:";
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kName)) return std::atoi(line.c_str() + kName.size());
  return 0;
}

// Whether `process` was started with the same value of this variable as this rank.
bool was_given(pid_t process, const std::string& variable) {
  std::ifstream environ(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string wanted = variable + "=" + environment(variable.c_str());
  for (std::string entry; std::getline(environ, entry, '\0');)
    if (entry == wanted) return true;
  return false;
}

// Walks up the parents. A wrapper such as a shell or `timeout` was started with this rank's own RANK variables, so it
// has this rank's CPU mask, too; the first process without them is the starter.
pid_t starter() {
  const std::vector<std::string> variables = comm::world_variables();
  const auto is_between = [&](pid_t process) {
    return process > 1 && !variables.empty() &&
           std::ranges::all_of(variables, [&](const std::string& variable) { return was_given(process, variable); });
  };
  pid_t process = getppid();
  while (is_between(process)) process = parent_of(process);
  return process;
}

// Unknown masks (a starter of another user) count as not bound.
bool is_bound_by_starter(const cpu::UsableMachine& machine) {
  const std::vector<int> starters = cpu::processors_of_process(starter());
  return !starters.empty() && starters != processors_of(machine);
}

bool threads_are_bound() {
  return std::ranges::any_of(std::array{"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"},
                             [](const char* variable) { return !environment(variable).empty(); });
}

std::vector<int> part_of_list(const std::vector<int>& list, int part, int parts) {
  const auto length = static_cast<std::ptrdiff_t>(list.size()) / parts;
  return {list.begin() + part * length, list.begin() + (part + 1) * length};
}

}  // namespace

StartedRank place_started_rank(int local_rank, const PlacementRequest& request) {
  cpu::UsableMachine machine = cpu::usable_machine();
  const bool bound = request.ranks > 1 && is_bound_by_starter(machine);
  if (!bound) {
    const Placement all = place(machine, request);
    return {all.ranks[static_cast<std::size_t>(local_rank)], communication_processors(all.ranks), all.warnings};
  }
  PlacementRequest alone = request;
  alone.ranks = 1;
  alone.communication_processors.clear();
  if (machine.processor_quota) *machine.processor_quota /= request.ranks;
  const Placement own = place(machine, alone);
  return {own.ranks.front(), {}, own.warnings};
}

std::vector<int> place_this_process(int local_rank, int local_size) {
  const bool sets_threads = local_size > 1 && environment("OMP_NUM_THREADS").empty();
  if (local_size <= 1 || threads_are_bound()) {
    if (sets_threads) cpu::set_num_threads(std::max(1, cpu::default_threads(cpu::topology()) / local_size));
    return part_of_list(communication_affinity(), local_rank, local_size);
  }
  PlacementRequest request;
  request.ranks = local_size;
  request.communication_cores = number_in_environment("CCL_WORKER_COUNT").value_or(0);
  request.communication_processors = communication_affinity();
  const auto [rank, all_communication, warnings] = place_started_rank(local_rank, request);
  if (local_rank == 0)
    for (const std::string& warning : warnings) log_warning("{}", warning);
  cpu::bind_process(rank.processors(), rank.nodes);
  if (sets_threads) cpu::set_num_threads(rank.threads);
  return communication_processors({rank});
}

void take_turns(const comm::World& world, comm::ProcessGroup& group) {
  constexpr std::chrono::milliseconds kPeriod{100};  // refilling a core's cache takes some tenths of a millisecond
  if (world.size == 1 || world.several_hosts()) return;
  const auto ranks = static_cast<std::size_t>(world.size);
  const cpu::UsableMachine machine = cpu::usable_machine();
  const bool may_move = environment("HEARTH_TAKE_TURNS") != "0" && machine.real && machine.nodes.size() == 1;
  std::vector<std::int32_t> own;
  if (may_move) own = cpu::processors_of_compute_threads();
  struct Seat {
    std::int32_t length = 0, node = -1;  // 0: this rank may not move
  } seat;
  if (may_move) seat = {static_cast<std::int32_t>(own.size()), machine.nodes.front().id};
  std::vector<Seat> seats(ranks);
  group.all_gather(&seat, seats.data(), sizeof seat / sizeof seat.node, DType::i32)->wait();
  for (const Seat& other : seats)
    if (other.length == 0 || other.length != seat.length || other.node != seat.node) return;
  std::vector<std::int32_t> all(ranks * own.size());
  group.all_gather(own.data(), all.data(), own.size(), DType::i32)->wait();
  if (std::set(all.begin(), all.end()).size() < all.size()) return;  // some have the same
  std::vector<std::vector<int>> in_order;
  for (auto begin = all.begin(); begin != all.end(); begin += seat.length)
    in_order.emplace_back(begin, begin + seat.length);
  cpu::rotate_process(in_order, static_cast<std::size_t>(world.rank), kPeriod);
}

}  // namespace hearth::launch
