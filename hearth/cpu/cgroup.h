#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace hearth::cpu {

// Control groups (cgroups) v1 and v2: the file that names this process's group, and the folder that holds all groups.
struct CgroupFiles {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path root = "/sys/fs/cgroup";
};

// The lowest limit of this process's group and its ancestors; nothing if there is none.
std::optional<double> cgroup_processors(
    const CgroupFiles& files = {});  // CPU quota; 1.5: the time of one and a half CPUs
std::optional<std::size_t> cgroup_memory_limit(const CgroupFiles& files = {});
// What the group and its ancestors may still take, page cache that the kernel can drop included.
std::optional<std::size_t> cgroup_memory_room(const CgroupFiles& files = {});
std::optional<std::size_t> cgroup_most_threads(
    const CgroupFiles& files = {});  // pids.max: of all processes of the group

}  // namespace hearth::cpu
