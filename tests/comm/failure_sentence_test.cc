#include "hearth/comm/failure_sentence.h"

#include <gtest/gtest.h>

namespace hearth::comm {
namespace {

TEST(FailureSentence, NamesTheRank) {
  EXPECT_EQ(failed_rank(failure_sentence(12, "the disk is full; rank 3 failed: no")), 12);
  for (const char* other :
       {"", "rank 1 failed", "rank 1 died", "rank x failed: y", "a rank 1 failed: y", "rank -1 failed: y"})
    EXPECT_EQ(failed_rank(other), std::nullopt) << other;
}

}  // namespace
}  // namespace hearth::comm
