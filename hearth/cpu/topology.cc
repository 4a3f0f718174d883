#include "hearth/cpu/topology.h"

#include <hwloc.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "hearth/base/error.h"
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
  check(hwloc_topology_init(&raw) == 0, "[topology] hwloc does not start");
  Handle handle(raw);
  // Processors outside the control group belong to the machine too.
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

// With OMP_PLACES or OMP_PROC_BIND the OpenMP library has bound this thread already, and its mask says nothing of
// the others.
Set usable_processors(const Handle& handle) {
  Set set(hwloc_bitmap_alloc());
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (const int id : ids) hwloc_bitmap_set(set.get(), static_cast<unsigned>(id));
  }
  if (omp_get_num_places() == 0 && hwloc_get_cpubind(handle.get(), set.get(), HWLOC_CPUBIND_THREAD) != 0)
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(handle.get()));
  return set;
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

}  // namespace hearth::cpu
