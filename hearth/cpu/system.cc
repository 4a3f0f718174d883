#include "hearth/cpu/system.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "hearth/base/check.h"
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

// The number in a line of a file in /proc: "VmRSS:  4096 kB" has the name "VmRSS:". 0 where the kernel does not tell.
std::size_t proc_number(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  return 0;
}

std::size_t status_bytes(std::string_view name) { return proc_number("/proc/self/status", name) * 1024; }

std::size_t resident_peak() { return status_bytes("VmHWM:"); }

std::size_t earlier_peak = 0;  // before the kernel was told to start a new one

}  // namespace

std::size_t memory_total() {
  const struct sysinfo info = system_info();
  return info.totalram * std::size_t{info.mem_unit};
}

std::size_t memory_available() {
  const std::size_t available = proc_number("/proc/meminfo", "MemAvailable:") * 1024;
  return available > 0 ? available : memory_total();
}

std::size_t memory_limit() {
  static const std::size_t limit = detect_memory_limit();
  return limit;
}

std::optional<std::size_t> soft_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

std::size_t oom_kills() { return proc_number("/proc/vmstat", "oom_kill "); }

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

std::size_t address_space_bytes() { return status_bytes("VmSize:"); }

std::size_t data_bytes() { return status_bytes("VmData:"); }

std::size_t resident_bytes() { return status_bytes("VmRSS:"); }

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
