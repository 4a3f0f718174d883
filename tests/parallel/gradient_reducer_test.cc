#include "hearth/parallel/gradient_reducer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/parallel/toy_team.h"

namespace hearth::parallel {
namespace {

using Notes = std::vector<std::string>;

constexpr PartitionOptions kSmall{64, 256, false};  // with two ranks: 32 elements, then 64

// One step of two ranks; returns what the first did, in order.
Notes one_step(const std::vector<std::int64_t>& sizes, DType wire, const std::function<bool(std::size_t)>& uses,
               const std::function<void(const Team&, const ToyParameters&)>& inspect) {
  Notes first_notes;
  run_team(2, [&](const Team& team) {
    Notes notes;
    NotingGroup group(team.group(), notes);
    ToyParameters toy(sizes);
    const Partition partition(toy.store.size(), team.rank(), team.size(), kSmall);
    GradientReducer reducer(toy.store, team_of(group), partition, wire);
    toy.store.zero_grad();
    Tape tape;
    const Var loss = toy.forward(tape, static_cast<float>(team.rank()), uses, &notes);
    reducer.backward(tape, loss, 0.5f);
    notes.emplace_back("backward ended");
    reducer.finish();
    inspect(team, toy);
    if (team.is_first()) first_notes = notes;
  });
  return first_notes;
}

// 32 + 64 + 16 elements of arena, laid out last to first: w2 fills the first bucket, w1 the second.
TEST(GradientReducer, BucketsAreSentInOrderWhileBackwardRuns) {
  const Notes notes = one_step({16, 64, 32}, DType::f32, {}, [](const Team&, const ToyParameters& toy) {
    for (std::size_t k = 0; k < 3; ++k)
      for (std::int64_t i = 0; i < toy[k].grad.size(); ++i)
        EXPECT_EQ(toy.gradient(k, i), 0.5f * static_cast<float>(k + 1) * static_cast<float>(1 + 2 * i));
  });
  EXPECT_EQ(notes, Notes({"grad 2", "all_reduce 32 fp32", "grad 1", "all_reduce 64 fp32", "grad 0",
                          "all_reduce 16 fp32", "backward ended"}));
}

TEST(GradientReducer, ABucketWaitsForAllItHoldsAndForThoseBefore) {
  // w3 and half of w2 | the other half, w1, w0.
  const Notes notes = one_step({16, 16, 32, 16}, DType::f32, {}, [](const Team&, const ToyParameters&) {});
  EXPECT_EQ(notes, Notes({"grad 3", "grad 2", "all_reduce 32 fp32", "grad 1", "grad 0", "all_reduce 48 fp32",
                          "backward ended"}));
}

TEST(GradientReducer, UnusedParametersHaveNoGradientAndStopNobody) {
  const auto inspect = [](const Team&, const ToyParameters& toy) {
    for (std::int64_t i = 0; i < 32; ++i) EXPECT_EQ(toy.gradient(2, i), 0);
    EXPECT_EQ(toy.gradient(1, 1), 0.5f * 2 * 3);
  };
  const Notes notes = one_step(
      {16, 64, 32}, DType::f32, [](std::size_t k) { return k != 2; }, inspect);
  EXPECT_EQ(notes, Notes({"all_reduce 32 fp32", "grad 1", "all_reduce 64 fp32", "grad 0", "all_reduce 16 fp32",
                          "backward ended"}));
}

TEST(GradientReducer, RanksMayUseDifferentParameters) {
  run_team(2, [](const Team& team) {
    ToyParameters toy({16, 64, 32});
    const Partition partition(toy.store.size(), team.rank(), team.size(), kSmall);
    GradientReducer reducer(toy.store, team, partition, DType::f32);
    for (int step = 0; step < 3; ++step) {
      toy.store.zero_grad();
      Tape tape;
      const Var loss = toy.forward(tape, 1, [&](std::size_t k) { return team.rank() == 0 ? k != 1 : k != 2; });
      reducer.backward(tape, loss, 1);
      reducer.finish();
      EXPECT_EQ(toy.gradient(0, 3), 2 * 4.0f);
      EXPECT_EQ(toy.gradient(1, 3), 2 * 4.0f);
      EXPECT_EQ(toy.gradient(2, 3), 3 * 4.0f);
    }
  });
}

TEST(GradientReducer, HalfTheBytesInBf16) {
  const Notes notes = one_step({16, 64, 32}, DType::bf16, {}, [](const Team&, const ToyParameters& toy) {
    for (std::int64_t i = 0; i < 64; ++i) {
      const auto expected = static_cast<float>(1 + 2 * i);
      EXPECT_NEAR(toy.gradient(1, i), expected, expected / 128);
    }
  });
  EXPECT_EQ(std::ranges::count(notes, "all_reduce 64 bf16"), 1);
  EXPECT_EQ(std::ranges::count_if(notes, [](const std::string& note) { return note.ends_with("fp32"); }), 0);
}

TEST(GradientReducer, OneProcessSendsNothing) {
  Notes notes;
  const Team alone;
  NotingGroup group(alone.group(), notes);
  ToyParameters toy({16, 64, 32});
  const Partition partition(toy.store.size(), 0, 1, kSmall);
  GradientReducer reducer(toy.store, team_of(group), partition, DType::bf16);
  Tape tape;
  const Var loss = toy.forward(tape, 1.001f, [](std::size_t k) { return k != 0; });
  reducer.backward(tape, loss, 1);
  reducer.finish();
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(toy.gradient(1, 0), 2 * 1.001f);
  EXPECT_EQ(toy.gradient(0, 0), 0);
}

}  // namespace
}  // namespace hearth::parallel
