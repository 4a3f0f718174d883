#include "hearth/cpu/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hearth::cpu {
namespace {

namespace fs = std::filesystem;

class Cgroup : public testing::Test {
 protected:
  ~Cgroup() override { fs::remove_all(folder_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("hearth_cgroup_" + std::to_string(getpid()));
  const CgroupFiles files_{folder_ / "membership", folder_ / "cgroup"};
};

TEST_F(Cgroup, NoGroupsNoLimits) {
  EXPECT_EQ(cgroup_processors(files_), std::nullopt);
  EXPECT_EQ(cgroup_memory_limit(files_), std::nullopt);
  EXPECT_EQ(cgroup_memory_room(files_), std::nullopt);
}

TEST_F(Cgroup, Version2TakesTheLowestOnTheWayUp) {
  write("membership", "0::/jobs/one\n");
  write("cgroup/jobs/one/cpu.max", "400000 100000\n");
  write("cgroup/jobs/cpu.max", "150000 100000\n");
  write("cgroup/jobs/one/memory.max", "2147483648\n");
  write("cgroup/jobs/memory.max", "max\n");
  EXPECT_EQ(cgroup_processors(files_), 1.5);
  EXPECT_EQ(cgroup_memory_limit(files_), std::size_t{2147483648});
}

TEST_F(Cgroup, Version2WithoutLimits) {
  write("membership", "0::/jobs\n");
  write("cgroup/jobs/cpu.max", "max 100000\n");
  write("cgroup/jobs/memory.max", "max\n");
  EXPECT_EQ(cgroup_processors(files_), std::nullopt);
  EXPECT_EQ(cgroup_memory_limit(files_), std::nullopt);
}

TEST_F(Cgroup, InAContainerTheMountIsTheGroup) {
  write("membership", "0::/path/of/the/host\n");
  write("cgroup/cpu.max", "200000 100000\n");
  write("cgroup/memory.max", "1000000\n");
  EXPECT_EQ(cgroup_processors(files_), 2.0);
  EXPECT_EQ(cgroup_memory_limit(files_), std::size_t{1'000'000});
}

TEST_F(Cgroup, Version1HasAHierarchyForEachController) {
  write("membership", "5:memory:/box\n3:cpu,cpuacct:/box\n0::/\n");
  write("cgroup/memory/box/memory.limit_in_bytes", "3000000\n");
  write("cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
  write("cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  write("cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_processors(files_), 0.5);
  EXPECT_EQ(cgroup_memory_limit(files_), std::size_t{3'000'000});
}

TEST_F(Cgroup, RoomIsTheLimitLessWhatIsInUseBesideThePageCache) {
  write("membership", "5:memory:/box\n0::/jobs/one\n");
  write("cgroup/jobs/one/memory.max", "max\n");
  write("cgroup/jobs/one/memory.current", "5000\n");
  write("cgroup/jobs/memory.max", "10000\n");
  write("cgroup/jobs/memory.current", "7000\n");
  write("cgroup/jobs/memory.stat", "anon 4000\ninactive_file 1000\nactive_file 500\n");
  EXPECT_EQ(cgroup_memory_room(files_), std::size_t{4500});
  write("cgroup/memory/box/memory.limit_in_bytes", "6000\n");
  write("cgroup/memory/box/memory.usage_in_bytes", "6000\n");
  write("cgroup/memory/box/memory.stat", "inactive_file 9\ntotal_inactive_file 1200\n");
  EXPECT_EQ(cgroup_memory_room(files_), std::size_t{1200});
  write("cgroup/jobs/memory.current", "70000\n");
  EXPECT_EQ(cgroup_memory_room(files_), std::size_t{0});
}

TEST_F(Cgroup, MostThreads) {
  EXPECT_EQ(cgroup_most_threads(files_), std::nullopt);
  write("membership", "0::/jobs\n");
  write("cgroup/jobs/pids.max", "77\n");
  EXPECT_EQ(cgroup_most_threads(files_), std::size_t{77});
}

}  // namespace
}  // namespace hearth::cpu
