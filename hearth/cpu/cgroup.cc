#include "hearth/cpu/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "hearth/base/split.h"

namespace hearth::cpu {
namespace {

namespace fs = std::filesystem;

const std::string kVersion2 = "";  // one hierarchy, whose line names no controller

struct Group {
  fs::path mount, path;
};

// The membership file has lines such as "0::/path" in version 2 and "4:cpu,cpuacct:/path" in version 1.
std::optional<Group> find_group(const CgroupFiles& files, const std::string& controller) {
  std::ifstream file(files.membership);
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    if (controllers == kVersion2 && controller == kVersion2) return Group{files.root, path};
    for (const std::string& name : split(controllers, ','))
      if (name == controller) return Group{files.root / controllers, path};
  }
  return std::nullopt;
}

template <class T>
std::optional<T> lower(std::optional<T> a, std::optional<T> b) {
  return !a || (b && *b < *a) ? b : a;
}

// In a container the path may be that of the host and not exist here; the mounted folder itself is then the group.
template <class T>
std::optional<T> lowest_limit(const CgroupFiles& files, const std::string& controller,
                              std::optional<T> (*read)(const fs::path& folder)) {
  const auto group = find_group(files, controller);
  if (!group) return std::nullopt;
  std::optional<T> lowest = read(group->mount);
  for (fs::path path = group->path; !path.empty(); path = path.parent_path())
    lowest = lower(lowest, read(group->mount / path));
  return lowest;
}

template <class T>
std::optional<T> read_number(const fs::path& path) {
  std::ifstream file(path);
  T value{};
  return file >> value ? std::optional(value) : std::nullopt;  // "max" is not a number
}

std::optional<double> ratio(double quota, double period) {
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

std::optional<double> read_processors_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");  // "150000 100000" or "max 100000"
  double quota = 0, period = 0;
  return file >> quota >> period ? ratio(quota, period) : std::nullopt;
}

std::optional<double> read_processors_v1(const fs::path& folder) {
  return ratio(read_number<double>(folder / "cpu.cfs_quota_us").value_or(0),
               read_number<double>(folder / "cpu.cfs_period_us").value_or(0));
}

std::optional<std::size_t> read_memory_v2(const fs::path& folder) {
  return read_number<std::size_t>(folder / "memory.max");
}

std::optional<std::size_t> read_memory_v1(const fs::path& folder) {
  return read_number<std::size_t>(folder / "memory.limit_in_bytes");
}

// The sum of two lines of memory.stat, such as "inactive_file 4096".
std::size_t page_cache(const fs::path& folder, const std::string& prefix) {
  std::ifstream file(folder / "memory.stat");
  std::size_t bytes = 0, value = 0;
  for (std::string name; file >> name >> value;)
    if (name == prefix + "inactive_file" || name == prefix + "active_file") bytes += value;
  return bytes;
}

std::optional<std::size_t> room(std::optional<std::size_t> limit, std::optional<std::size_t> used, std::size_t cached) {
  if (!limit || !used) return std::nullopt;
  const std::size_t kept = *used - std::min(*used, cached);
  return *limit - std::min(*limit, kept);
}

std::optional<std::size_t> read_room_v2(const fs::path& folder) {
  return room(read_memory_v2(folder), read_number<std::size_t>(folder / "memory.current"), page_cache(folder, ""));
}

std::optional<std::size_t> read_room_v1(const fs::path& folder) {
  return room(read_memory_v1(folder), read_number<std::size_t>(folder / "memory.usage_in_bytes"),
              page_cache(folder, "total_"));
}

std::optional<std::size_t> read_most_threads(const fs::path& folder) {
  return read_number<std::size_t>(folder / "pids.max");
}

}  // namespace

std::optional<double> cgroup_processors(const CgroupFiles& files) {
  return lower(lowest_limit(files, kVersion2, read_processors_v2), lowest_limit(files, "cpu", read_processors_v1));
}

std::optional<std::size_t> cgroup_memory_limit(const CgroupFiles& files) {
  return lower(lowest_limit(files, kVersion2, read_memory_v2), lowest_limit(files, "memory", read_memory_v1));
}

std::optional<std::size_t> cgroup_memory_room(const CgroupFiles& files) {
  return lower(lowest_limit(files, kVersion2, read_room_v2), lowest_limit(files, "memory", read_room_v1));
}

std::optional<std::size_t> cgroup_most_threads(const CgroupFiles& files) {
  return lower(lowest_limit(files, kVersion2, read_most_threads), lowest_limit(files, "pids", read_most_threads));
}

}  // namespace hearth::cpu
