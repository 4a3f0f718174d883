#include "hearth/comm/awake_clock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::comm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(AwakeClock, DoesNotCountTimeInWhichTheProcessIsStopped) {
  const pid_t child = fork();
  if (child == 0) {
    const AwakeClock clock;
    const auto start = Clock::now();
    for (auto last = start; Clock::now() - last < 1500ms; usleep(1000)) last = Clock::now();  // until it was stopped
    _exit(Clock::now() - start - clock.now() > 750ms ? 0 : 1);
  }
  usleep(100'000);
  kill(child, SIGSTOP);
  usleep(2'000'000);
  kill(child, SIGCONT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(AwakeClock, CountsTheRest) {
  const AwakeClock clock;
  while (clock.now() < 700ms) usleep(1000);  // some ticks
  EXPECT_GE(clock.now(), 700ms);
}

}  // namespace
}  // namespace hearth::comm
