#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace hearth::cpu {

// Control groups of version 1 and 2: which one this process is in, and the folder that holds them.
struct CgroupFiles {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path root = "/sys/fs/cgroup";
};

// The lowest limit of this process's group and of all above it; nothing where there is none.
std::optional<double> cgroup_processors(const CgroupFiles& files = {});  // 1.5: the time of one and a half processors
std::optional<std::size_t> cgroup_memory_limit(const CgroupFiles& files = {});

}  // namespace hearth::cpu
