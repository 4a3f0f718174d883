#include "hearth/data/prefetch.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support.h"

namespace hearth::data {
namespace {

TEST(Prefetcher, HandsOutInOrderUntilTheEnd) {
  int made = 0;
  Prefetcher<std::unique_ptr<int>> items(
      [&]() -> std::optional<std::unique_ptr<int>> {
        if (made == 100) return std::nullopt;
        return std::make_unique<int>(made++);
      },
      3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(**items.next(), i);
  EXPECT_FALSE(items.next());
  EXPECT_FALSE(items.next());
}

TEST(Prefetcher, StaysWithinItsBound) {
  std::atomic<int> made = 0;
  Prefetcher<int> items([&] { return std::optional(made++); }, 2);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(*items.next(), i);
    std::this_thread::yield();
    EXPECT_LE(made.load(), i + 1 + 2 + 1);  // taken, waiting, and one more that began when there was room
  }
}

TEST(Prefetcher, ThrowsWhatWasThrownAfterTheItemsBefore) {
  int made = 0;
  Prefetcher<int> items(
      [&] {
        if (made == 2) fail("no item {}", made);
        return std::optional(made++);
      },
      8);
  EXPECT_EQ(items.next(), 0);
  EXPECT_EQ(items.next(), 1);
  EXPECT_EQ(error_of([&] { items.next(); }), "no item 2");
  EXPECT_THROW(items.next(), Error);
}

TEST(Prefetcher, StopsAndDropsItsItemsWhenItIsDestroyedEarly) {
  constexpr int kAhead = 4;
  const auto item = std::make_shared<int>(1);
  for (int taken = 0; taken < 5; ++taken) {
    std::atomic<int> made = 0;
    {
      Prefetcher<std::shared_ptr<int>> items([&] { return ++made, std::optional(item); }, kAhead);
      for (int i = 0; i < taken; ++i) EXPECT_EQ(items.next(), item);
    }
    const int made_in_all = made;
    EXPECT_TRUE(taken <= made_in_all && made_in_all <= taken + kAhead) << made_in_all << " for " << taken;
    EXPECT_EQ(item.use_count(), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(made, made_in_all);
  }
}

}  // namespace
}  // namespace hearth::data
