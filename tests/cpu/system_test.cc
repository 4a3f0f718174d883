#include "hearth/cpu/system.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <set>
#include <string>
#include <vector>

namespace hearth::cpu {
namespace {

TEST(System, MemoryIsPlausible) {
  EXPECT_GT(memory_total(), std::size_t{64} << 20);
  EXPECT_GT(memory_available(), 0u);
  EXPECT_LE(memory_available(), memory_total());
  EXPECT_GT(memory_limit(), 0u);
}

TEST(System, HugePageSettingIsAKnownWord) {
  const std::set<std::string> known = {"always", "madvise", "never", "unknown"};
  EXPECT_TRUE(known.contains(transparent_huge_pages())) << transparent_huge_pages();
}

TEST(System, UsageSeesTouchedPages) {
  const ProcessUsage before = process_usage();
  constexpr std::size_t page = 4096, pages = 2000;
  void* const data = mmap(nullptr, page * pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  madvise(data, page * pages, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(data)[i * page] = 1;
  const ProcessUsage after = process_usage();
  munmap(data, page * pages);
  EXPECT_GE(after.minor_faults, before.minor_faults + pages / 2);
  EXPECT_GE(after.peak_resident_bytes, page * pages / 2);
}

TEST(System, APeakIsOfItsOwnTimeAlone) {
  const auto touch = [](std::size_t bytes) { return std::vector<char>(bytes, 1).back(); };
  constexpr std::size_t mebibyte = 1 << 20;
  const PeakMemory whole;
  EXPECT_EQ(touch(128 * mebibyte), 1);
  const std::size_t high = whole.bytes();
  EXPECT_GE(high, resident_bytes() + 100 * mebibyte);
  const PeakMemory later;
  EXPECT_EQ(touch(16 * mebibyte), 1);
  EXPECT_LT(later.bytes(), high);
  EXPECT_GE(peak_resident_bytes(), high);
}

}  // namespace
}  // namespace hearth::cpu
