// Limits of the process: memory and threads that the system refuses.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "hearth/base/error.h"
#include "hearth/cpu/memory.h"
#include "hearth/cpu/memory_room.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/cpu/thread_team.h"

namespace hearth::cpu {
namespace {

constexpr std::size_t kMiB = 1 << 20;

void limit(__rlimit_resource_t resource, std::size_t bytes) {
  const rlimit value{bytes, RLIM_INFINITY};
  if (setrlimit(resource, &value) != 0) std::exit(2);
}

// Exits with 0 and prints the sentence if `action` throws a ResourceError.
template <class Action>
[[noreturn]] void exit_with_refusal(const Action& action) {
  try {
    action();
  } catch (const ResourceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(0);
  }
  std::exit(1);
}

// Limits stay for the rest of a process, so each test has one of its own.
class LimitsDeathTest : public testing::Test {
 protected:
  LimitsDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer needs more address space than these limits leave";
#endif
  }
};

TEST_F(LimitsDeathTest, AThreadThatTheSystemRefusesIsASentence) {
  const ThreadTeam allowed(4);
  const auto refused = [] {
    limit(RLIMIT_AS, address_space_bytes() + 20 * kMiB);
    exit_with_refusal([] { const ThreadTeam team(5); });
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0),
              "refused to start 4 threads, it started .: .*`ulimit -v` allows .* MiB.*--num_threads");
}

TEST_F(LimitsDeathTest, ParallelWorkWhoseThreadsTheSystemRefusesIsASentence) {
  const auto refused = [] {
    set_num_threads(4);
    limit(RLIMIT_AS, address_space_bytes() + 4 * kMiB);
    exit_with_refusal([] { parallel_for(100, [](std::int64_t) {}); });
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0), "refused to start 3 threads");
}

TEST_F(LimitsDeathTest, MemoryBesideThePoolIsAskedForFirst) {
  check_memory_for("a test", kMiB);
  const auto refused = [] {
    limit(RLIMIT_AS, address_space_bytes() + 4 * kMiB);
    exit_with_refusal([] { check_memory_for("a test", 32 * kMiB); });
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0), "refuses 32 MiB for a test; raise `ulimit -v`");
}

TEST(Limits, ProcessesOfAHostShareItsMemory) {
  const MemoryRoom one = memory_room(1), many = memory_room(100);
  EXPECT_GT(many.bytes, 0u);
  EXPECT_LE(one.bytes, memory_total());
  EXPECT_LT(many.bytes, one.bytes);
}

TEST_F(LimitsDeathTest, RoomIsThatOfTheNarrowestLimit) {
  const auto room_under = [](__rlimit_resource_t resource, std::size_t bytes) {
    limit(resource, bytes);
    const MemoryRoom room = memory_room(1);
    std::fprintf(stderr, "%s\n", std::string(room.bound).c_str());
    std::exit(room.bytes > 0 && room.bytes < bytes ? 0 : 1);
  };
  EXPECT_EXIT(room_under(RLIMIT_AS, address_space_bytes() + 300 * kMiB), testing::ExitedWithCode(0), "`ulimit -v`");
  EXPECT_EXIT(room_under(RLIMIT_DATA, data_bytes() + 100 * kMiB), testing::ExitedWithCode(0), "`ulimit -d`");
}

}  // namespace
}  // namespace hearth::cpu
