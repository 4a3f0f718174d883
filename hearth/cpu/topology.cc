#include "hearth/cpu/topology.h"

#include <hwloc.h>
#include <omp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/cgroup.h"
#include "hearth/cpu/system.h"

namespace hearth::cpu {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t handle) const { hwloc_topology_destroy(handle); }
};
using Handle = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeSet {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Set = std::unique_ptr<hwloc_bitmap_s, FreeSet>;

Handle load() {
  hwloc_topology_t raw = nullptr;
  check(hwloc_topology_init(&raw) == 0, "[topology] hwloc cannot be initialised");
  Handle handle(raw);
  // Count processors outside the control group as well: they belong to the machine.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
                                    HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
  check(hwloc_topology_load(raw) == 0, "[topology] hwloc cannot read the machine's topology");
  return handle;
}

int count(const Handle& handle, hwloc_obj_type_t type) {
  return std::max(1, hwloc_get_nbobjs_by_type(handle.get(), type));
}

int count_inside(const Handle& handle, const Set& processors, hwloc_obj_type_t type) {
  int touched = 0;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(handle.get(), type, object)) != nullptr;)
    touched += hwloc_bitmap_intersects(object->cpuset, processors.get());
  return std::max(1, touched);
}

std::size_t cache_bytes(const Handle& handle, hwloc_obj_type_t type) {
  const hwloc_obj_t cache = hwloc_get_obj_by_type(handle.get(), type, 0);
  return cache == nullptr ? 0 : cache->attr->cache.size;
}

// With OMP_PLACES or OMP_PROC_BIND the OpenMP runtime has bound this thread already, so its mask is not the process's.
Set usable_processors(const Handle& handle) {
  Set set(hwloc_bitmap_alloc());
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (const int id : ids) hwloc_bitmap_set(set.get(), static_cast<unsigned>(id));
  }
  if (omp_get_num_places() == 0 && hwloc_get_cpubind(handle.get(), set.get(), HWLOC_CPUBIND_THREAD) != 0)
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(handle.get()));
  if (!hwloc_topology_is_thissystem(handle.get()))
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(handle.get()));
  return set;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> result;
  for (int id = -1; (id = hwloc_bitmap_next(set, id)) != -1;) result.push_back(id);
  return result;
}

Set set_of(const std::vector<int>& ids) {
  Set set(hwloc_bitmap_alloc());
  for (const int id : ids) hwloc_bitmap_set(set.get(), static_cast<unsigned>(id));
  return set;
}

// Several NUMA nodes (kinds of memory) may share cores; the cores then belong to the first of them.
hwloc_obj_t node_of(const Handle& handle, hwloc_obj_t core) {
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(handle.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    if (hwloc_bitmap_intersects(node->cpuset, core->cpuset)) return node;
  return nullptr;
}

Topology detect() {
  const Handle handle = load();
  const Set usable = usable_processors(handle);
  Topology t;
  t.sockets = count(handle, HWLOC_OBJ_PACKAGE);
  t.cores = count(handle, HWLOC_OBJ_CORE);
  t.processors = count(handle, HWLOC_OBJ_PU);
  t.numa_nodes = count(handle, HWLOC_OBJ_NUMANODE);
  t.l1_data_bytes = cache_bytes(handle, HWLOC_OBJ_L1CACHE);
  t.l2_bytes = cache_bytes(handle, HWLOC_OBJ_L2CACHE);
  t.l3_bytes = cache_bytes(handle, HWLOC_OBJ_L3CACHE);
  t.memory_bytes = memory_total();
  t.usable_cores = count_inside(handle, usable, HWLOC_OBJ_CORE);
  t.usable_processors = count_inside(handle, usable, HWLOC_OBJ_PU);
  t.processor_quota = cgroup_processors();
  return t;
}

}  // namespace

const Topology& topology() {
  static const Topology instance = detect();
  return instance;
}

std::string hwloc_version() { return HWLOC_VERSION; }

UsableMachine usable_machine() {
  const Handle handle = load();
  UsableMachine machine;
  machine.real = hwloc_topology_is_thissystem(handle.get()) != 0;
  if (machine.real) machine.processor_quota = cgroup_processors();
  const Set usable = usable_processors(handle);
  const bool knows_cores = hwloc_get_nbobjs_by_type(handle.get(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t core_type = knows_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<NumaNode>& nodes = machine.nodes;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(handle.get(), core_type, core)) != nullptr;) {
    const Set threads(hwloc_bitmap_alloc());
    hwloc_bitmap_and(threads.get(), core->cpuset, usable.get());
    if (hwloc_bitmap_iszero(threads.get())) continue;
    const hwloc_obj_t home = node_of(handle, core);
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(handle.get(), HWLOC_OBJ_PACKAGE, core);
    const int id = home == nullptr ? 0 : static_cast<int>(home->os_index);
    auto node = std::ranges::find(nodes, id, &NumaNode::id);
    if (node == nodes.end())
      node = nodes.insert(node, {id, package == nullptr ? 0 : static_cast<int>(package->os_index), {}});
    node->cores.push_back(members(threads.get()));
  }
  check(!nodes.empty(), "[topology] hwloc finds no core that this process may run on");
  return machine;
}

std::vector<int> processors_of_process(int pid) {
  const Handle handle = load();
  const Set set(hwloc_bitmap_alloc());
  const bool known =
      hwloc_topology_is_thissystem(handle.get()) && hwloc_get_proc_cpubind(handle.get(), pid, set.get(), 0) == 0;
  return known ? members(set.get()) : std::vector<int>();
}

void bind_process(const std::vector<int>& processors, const std::vector<int>& nodes) {
  const Handle handle = load();
  if (!hwloc_topology_is_thissystem(handle.get())) return;
  const int refused = hwloc_set_cpubind(handle.get(), set_of(processors).get(), HWLOC_CPUBIND_PROCESS);
  check(refused == 0, "the system refused to bind this process to the cores chosen for it: {}", std::strerror(errno));
  // Containers often forbid it. Memory then comes from the node of the thread that touches it first, which is near.
  if (!nodes.empty())
    hwloc_set_membind(handle.get(), set_of(nodes).get(), HWLOC_MEMBIND_BIND,
                      HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
}

}  // namespace hearth::cpu
