#include "hearth/cpu/system.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "hearth/base/error.h"
#include "hearth/cpu/cgroup.h"

namespace hearth::cpu {
namespace {

struct sysinfo system_info() {
  struct sysinfo info {};
  check(sysinfo(&info) == 0, "[system] sysinfo failed: the memory size of this machine is unknown");
  return info;
}

std::size_t detect_memory_limit() {
  const struct sysinfo info = system_info();
  const std::size_t machine = (info.totalram + info.totalswap) * std::size_t{info.mem_unit};
  return std::min(machine, cgroup_memory_limit().value_or(machine));
}

// A field such as VmRSS of /proc/self/status; 0 where the kernel does not tell.
std::size_t status_bytes(std::string_view field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field)) return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) * 1024;
  return 0;
}

std::size_t resident_peak() { return status_bytes("VmHWM"); }

std::size_t earlier_peak = 0;  // before the kernel was told to start a new one

}  // namespace

std::size_t memory_total() {
  const struct sysinfo info = system_info();
  return info.totalram * std::size_t{info.mem_unit};
}

std::size_t memory_available() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    std::size_t kibibytes = 0;
    file >> kibibytes;
    std::getline(file, unit);
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return memory_total();
}

std::size_t memory_limit() {
  static const std::size_t limit = detect_memory_limit();
  return limit;
}

std::string transparent_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);  // such as: always [madvise] never
  const auto open = line.find('['), close = line.find(']');
  return open < close && close != std::string::npos ? line.substr(open + 1, close - open - 1) : "unknown";
}

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::size_t>(usage.ru_maxrss) * 1024, static_cast<std::uint64_t>(usage.ru_minflt),
          static_cast<std::uint64_t>(usage.ru_majflt)};
}

std::size_t resident_bytes() { return status_bytes("VmRSS"); }

std::size_t peak_resident_bytes() { return std::max(earlier_peak, resident_peak()); }

PeakMemory::PeakMemory() : at_start_(resident_bytes()) {
  earlier_peak = peak_resident_bytes();
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM falls to VmRSS, where the kernel allows it
  peak_at_start_ = resident_peak();
}

std::size_t PeakMemory::bytes() const {
  const std::size_t peak = resident_peak();
  return peak > peak_at_start_ ? peak : std::max(at_start_, resident_bytes());
}

}  // namespace hearth::cpu
