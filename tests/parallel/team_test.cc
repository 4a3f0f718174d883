#include "hearth/parallel/team.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/parallel/toy_team.h"
#include "tests/support.h"

namespace hearth::parallel {
namespace {

TEST(Team, OneProcessNeedsNoOthers) {
  const Team alone;
  EXPECT_EQ(alone.size(), 1);
  EXPECT_TRUE(alone.is_first() && alone.is_first_of_host());
  EXPECT_EQ(alone.broadcast("text"), "text");
  EXPECT_EQ(alone.gather("text"), std::vector<std::string>{"text"});
  alone.check_agreement({{"seed", "1"}});
  alone.barrier();
}

TEST(Team, TextsOfAnyLengthTravel) {
  run_team(3, [](const Team& team) {
    const std::string own(static_cast<std::size_t>(5 * team.rank()), 'x');  // the first is empty
    EXPECT_EQ(team.broadcast(team.is_first() ? std::string("a\0b", 3) : own), std::string("a\0b", 3));
    const std::vector<std::string> all = team.gather(own);
    if (team.is_first()) {
      EXPECT_EQ(all, (std::vector<std::string>{"", "xxxxx", "xxxxxxxxxx"}));
    } else {
      EXPECT_TRUE(all.empty());
    }
  });
}

TEST(Team, DisagreementIsToldToAll) {
  run_team(4, [](const Team& team) {
    team.check_agreement({{"--seed", "42"}, {"the model", "small"}});
    const std::string error = error_of([&] {
      team.check_agreement(
          {{"--seed", team.rank() == 2 ? "43" : "42"}, {"the model", team.rank() == 2 ? "" : "small"}});
    });
    EXPECT_EQ(error,
              "the processes disagree: --seed is 42 on rank 0, 43 on rank 2; the model is small on rank 0, empty on "
              "rank 2; give all of them the same model, data and flags");
  });
}

TEST(Team, TheFirstOfAHostPrepares) {
  std::atomic<int> prepared = 0;
  run_team(3, [&](const Team& team) {
    const int before = team.first_of_host_first([&] {
      if (team.is_first_of_host()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return prepared++;
    });
    EXPECT_EQ(before == 0, team.is_first_of_host());
  });
}

}  // namespace
}  // namespace hearth::parallel
