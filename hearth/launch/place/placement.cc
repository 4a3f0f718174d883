// Which cores each rank of this host runs on.
//
// Terms:
//   processor      a hardware thread, by the number that the system gives it.
//   core           a physical core: the list of its processors.
//   node           a NUMA node: its cores, as far as this process may use them.
//   rank           one process of the job.
//   share          the nodes and cores that a rank gets, before some are reserved for communication.
//   place          where one thread computes: a core, or a processor with use_logical_cores.
//   communication  cores of a rank that no computing thread uses; oneCCL's workers run there.
//   quota          CPU time that the control group grants (docker --cpus), in CPUs.
//
// place() does, in this order:
//   1. chosen_nodes restricts the machine to --nodes_list and --cores_list.
//   2. take_communication_cores removes the cores that CCL_WORKER_AFFINITY names.
//   3. If there are fewer cores than ranks, processors count as cores (with use_logical_cores). If that is not enough,
//      crowded() lets all ranks share all cores, unpinned, with a warning.
//   4. shares_of distributes the cores. Fewer ranks than nodes: each rank gets consecutive whole nodes. Otherwise each
//      node gets one rank, every further rank goes to the node that leaves the most cores per rank, and the ranks of a
//      node get equal runs of neighbouring cores; a remainder stays unused.
//   5. place_rank reserves the last cores of a share for communication and sets the number of threads: one per place,
//      or what the quota or the user allows.

#include "hearth/launch/place/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "hearth/base/check.h"
#include "hearth/base/rounding.h"
#include "hearth/launch/place/cpu_list.h"

namespace hearth::launch {
namespace {

using Nodes = std::vector<cpu::NumaNode>;

struct Share {
  std::vector<int> nodes;
  std::vector<Place> cores;
};

std::vector<int> all_processors(const std::vector<Place>& places) {
  std::vector<int> processors;
  for (const Place& place : places) processors.insert(processors.end(), place.begin(), place.end());
  return processors;
}

void keep_processors(Nodes& nodes, const auto& wanted) {
  for (cpu::NumaNode& node : nodes) {
    for (Place& core : node.cores) std::erase_if(core, [&](int processor) { return !wanted(processor); });
    std::erase_if(node.cores, [](const Place& core) { return core.empty(); });
  }
  std::erase_if(nodes, [](const cpu::NumaNode& node) { return node.cores.empty(); });
}

void keep_nodes(Nodes& nodes, const std::vector<int>& wanted) {
  for (const int id : wanted)
    check(std::ranges::find(nodes, id, &cpu::NumaNode::id) != nodes.end(),
          "--nodes_list: there is no node {} that this process may run on; `hearth env` describes the machine", id);
  std::erase_if(nodes, [&](const cpu::NumaNode& node) { return std::ranges::find(wanted, node.id) == wanted.end(); });
}

// Takes the whole cores of these processors out of `nodes`: a core that communicates does not compute.
std::vector<Place> take_communication_cores(Nodes& nodes, const std::vector<int>& processors) {
  std::vector<Place> taken;
  for (const int processor : processors) {
    Place whole;
    for (cpu::NumaNode& node : nodes) {
      const auto core = std::ranges::find_if(
          node.cores, [&](const Place& place) { return std::ranges::find(place, processor) != place.end(); });
      if (core == node.cores.end()) continue;
      whole = *core;
      node.cores.erase(core);
      break;
    }
    taken.push_back(whole.empty() ? Place{processor} : Place{whole});
  }
  keep_processors(nodes, [](int) { return true; });
  check(!nodes.empty(), "CCL_WORKER_AFFINITY leaves no core for computing: name fewer cores");
  return taken;
}

// The number of ranks per node: one each, then each further rank to the node that leaves the most cores per rank.
std::vector<int> ranks_by_node(const Nodes& nodes, int ranks) {
  std::vector<int> counts(nodes.size(), 1);
  for (int left = ranks - static_cast<int>(nodes.size()); left > 0; --left) {
    std::size_t best = 0;
    const auto cores_per_rank = [&](std::size_t node) {
      return static_cast<double>(nodes[node].cores.size()) / (counts[node] + 1);
    };
    for (std::size_t node = 1; node < nodes.size(); ++node)
      if (cores_per_rank(node) > cores_per_rank(best)) best = node;
    ++counts[best];
  }
  return counts;
}

std::vector<Share> shares_of(const Nodes& nodes, int ranks) {
  std::vector<Share> shares;
  const std::size_t number = nodes.size(), count = static_cast<std::size_t>(ranks);
  if (count < number) {
    for (std::size_t rank = 0; rank < count; ++rank) {
      Share& share = shares.emplace_back();
      for (std::size_t node = rank * number / count; node < (rank + 1) * number / count; ++node) {
        share.nodes.push_back(nodes[node].id);
        share.cores.insert(share.cores.end(), nodes[node].cores.begin(), nodes[node].cores.end());
      }
    }
    return shares;
  }
  const std::vector<int> counts = ranks_by_node(nodes, ranks);
  for (std::size_t node = 0; node < number; ++node) {
    const auto& cores = nodes[node].cores;
    const auto length = static_cast<std::ptrdiff_t>(cores.size()) / counts[node];
    for (int i = 0; i < counts[node]; ++i)
      shares.push_back({{nodes[node].id}, {cores.begin() + i * length, cores.begin() + (i + 1) * length}});
  }
  return shares;
}

std::vector<Place> split_cores(const std::vector<Place>& cores) {
  std::vector<Place> places;
  for (const int processor : all_processors(cores)) places.push_back({processor});
  return places;
}

RankPlacement place_rank(Share share, const PlacementRequest& request, std::optional<double> processor_quota,
                         std::vector<std::string>& warnings) {
  RankPlacement rank;
  rank.nodes = share.nodes;
  const auto reserved = static_cast<std::size_t>(request.communication_cores);
  if (reserved > 0 && share.cores.size() > reserved) {
    rank.communication.assign(share.cores.end() - static_cast<std::ptrdiff_t>(reserved), share.cores.end());
    share.cores.resize(share.cores.size() - reserved);
  } else if (reserved > 0) {
    warnings.push_back(fmt::format("{} core(s) per rank leave none for communication, which shares the computing cores",
                                   share.cores.size()));
  }
  rank.places = request.use_logical_cores ? split_cores(share.cores) : share.cores;
  if (const auto& wanted = request.cores_per_rank) {
    check(static_cast<std::size_t>(*wanted) <= rank.places.size(),
          "--ncores_per_instance {}: the {} rank(s) of this host have {} core(s) each for computing (node {}); ask for "
          "fewer cores or ranks",
          *wanted, request.ranks, rank.places.size(), cpu_list_text(share.nodes));
    rank.places.resize(static_cast<std::size_t>(*wanted));
  }
  const auto places = static_cast<int>(rank.places.size());
  rank.threads = places;
  if (processor_quota)
    rank.threads = std::clamp(static_cast<int>(std::floor(*processor_quota / request.ranks)), 1, places);
  // A quota does not name cores. Threads pinned to the first ones would collide with those of every other container.
  rank.pinned = rank.threads == places;
  if (request.threads) rank.threads = static_cast<int>(*request.threads);
  if (rank.threads > places)
    warnings.push_back(
        fmt::format("{} threads per rank share {} core(s): more than --num_cpu_threads_per_process {} does not help",
                    rank.threads, places, places));
  return rank;
}

int usable_cores(const Nodes& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0,
                         [](int sum, const cpu::NumaNode& node) { return sum + static_cast<int>(node.cores.size()); });
}

Placement crowded(const Nodes& nodes, const PlacementRequest& request) {
  check(!request.cores_per_rank, "--ncores_per_instance {}: {} ranks share {} core(s); ask for fewer ranks",
        request.cores_per_rank.value_or(0), request.ranks, usable_cores(nodes));
  RankPlacement rank;
  for (const cpu::NumaNode& node : nodes) rank.places.insert(rank.places.end(), node.cores.begin(), node.cores.end());
  rank.threads = static_cast<int>(request.threads.value_or(1));
  rank.pinned = false;
  const int cores = usable_cores(nodes);
  return {std::vector(static_cast<std::size_t>(request.ranks), rank),
          {fmt::format("{} ranks share {} core(s) of this host, with one unbound thread each, which is slower than "
                       "--num_processes {}",
                       request.ranks, cores, cores)}};
}

}  // namespace

std::vector<int> RankPlacement::processors() const {
  std::vector<int> result = all_processors(places);
  const std::vector<int> more = all_processors(communication);
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

Nodes chosen_nodes(const cpu::UsableMachine& machine, const PlacementRequest& request) {
  Nodes nodes = machine.nodes;
  if (!request.nodes.empty()) keep_nodes(nodes, request.nodes);
  if (!request.processors.empty()) {
    const std::set<int> wanted(request.processors.begin(), request.processors.end());
    std::set<int> found;
    keep_processors(nodes, [&](int processor) { return wanted.contains(processor) && found.insert(processor).second; });
    for (const int processor : wanted)
      check(found.contains(processor),
            "--cores_list: core {} is not available to this process, or not on the nodes chosen with --nodes_list",
            processor);
  }
  return nodes;
}

int ranks_that_fit(const Nodes& nodes, const PlacementRequest& request) {
  const std::int64_t wanted = request.cores_per_rank.value_or(1);
  std::int64_t ranks = 0;
  for (const cpu::NumaNode& node : nodes) {
    const auto threads_per_core = request.use_logical_cores ? static_cast<std::int64_t>(node.cores.front().size()) : 1;
    const std::int64_t cores = divide_up(wanted, threads_per_core) + request.communication_cores;
    ranks += static_cast<std::int64_t>(node.cores.size()) / cores;
  }
  return static_cast<int>(std::max<std::int64_t>(1, ranks));
}

Placement place(const cpu::UsableMachine& machine, const PlacementRequest& request) {
  Nodes nodes = chosen_nodes(machine, request);
  const auto ranks = static_cast<std::size_t>(request.ranks);
  std::vector<Place> chosen = take_communication_cores(nodes, request.communication_processors);
  if (request.use_logical_cores && usable_cores(nodes) < request.ranks)
    for (cpu::NumaNode& node : nodes) node.cores = split_cores(node.cores);
  if (usable_cores(nodes) < request.ranks) return crowded(nodes, request);

  PlacementRequest each = request;
  if (!chosen.empty()) each.communication_cores = 0;
  Placement placement;
  for (Share& share : shares_of(nodes, request.ranks))
    placement.ranks.push_back(place_rank(std::move(share), each, machine.processor_quota, placement.warnings));
  const std::size_t per_rank = chosen.size() / ranks;
  check(chosen.size() == per_rank * ranks,
        "CCL_WORKER_AFFINITY names {} cores for {} ranks: give each rank the same number", chosen.size(), ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    placement.ranks[rank].communication.insert(placement.ranks[rank].communication.end(),
                                               chosen.begin() + rank * per_rank,
                                               chosen.begin() + (rank + 1) * per_rank);
  std::vector<std::string>& warnings = placement.warnings;
  std::ranges::sort(warnings);
  warnings.erase(std::unique(warnings.begin(), warnings.end()), warnings.end());
  return placement;
}

std::vector<int> communication_processors(const std::vector<RankPlacement>& ranks) {
  std::vector<int> processors;
  for (const RankPlacement& rank : ranks)
    for (const Place& core : rank.communication) processors.push_back(core.front());
  return processors;
}

}  // namespace hearth::launch
