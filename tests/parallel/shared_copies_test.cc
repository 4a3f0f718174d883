#include "hearth/parallel/shared_copies.h"

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <set>

#include "hearth/kernels/rows/elementwise.h"
#include "tests/parallel/toy_team.h"

namespace hearth::parallel {
namespace {

constexpr WeightForm kBf16{DType::bf16, WeightForm::Layout::plain}, kF16{DType::f16, WeightForm::Layout::plain};

// Three weights; with buckets of 64 elements, the first and the last lie in several parts, the second in one.
class SharedCopiesTest : public testing::Test {
 protected:
  static constexpr int kRanks = 3;

  static std::vector<std::int64_t> sizes() { return {1000, 5, 333}; }

  // One training step in which the rank reads the weights that `reads` chooses, in their forms.
  static void step(ToyParameters& toy, Training& training, const std::function<void()>& reads) {
    toy.store.zero_grad();
    Tape tape;
    reads();
    const Var loss = toy.forward(tape, static_cast<float>(training.ddp.team().rank()));
    training.ddp.start_backward(tape, loss, 0.1f, {});
    training.ddp.finish();
    training.optimizer.step(0.01, 1);
  }

  static Parameter& parameter(ToyParameters& toy, std::size_t k) { return *toy.store.trainable()[k]; }

  static void expect_current(Parameter& weight, WeightForm form) {
    const Tensor& copy = acquire(weight, form);
    Tensor expected(weight.shape, form.type);
    kernels::convert(DType::f32, weight.master.raw(), form.type, expected.raw(), expected.size());
    EXPECT_EQ(std::memcmp(copy.raw(), expected.raw(), expected.bytes()), 0) << weight.parts.front().name;
  }

  // Runs body(team, toy, training) on all ranks.
  template <class Body>
  static void run(const Body& body) {
    const auto train = [&](const Team& team) {
      ToyParameters toy(sizes());
      DataParallelOptions options;
      options.partition = {64, 256, false};
      Training training(toy.store, {}, team, options);
      body(team, toy, training);
      team.barrier();
    };
    run_team(kRanks, train, true);
  }

  // The number of different places that the ranks have a copy at.
  void note_place(const Tensor& copy) {
    const std::lock_guard lock(mutex_);
    places_.insert(copy.raw());
  }
  std::mutex mutex_;
  std::set<const void*> places_;
};

TEST_F(SharedCopiesTest, AreOneForAllRanksAndFollowTheWeights) {
  run([&](const Team&, ToyParameters& toy, Training& training) {
    for (int i = 0; i < 3; ++i) {
      step(toy, training, [&] {
        for (std::size_t k = 0; k < 3; ++k) acquire(parameter(toy, k), kBf16);
      });
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint64_t version = parameter(toy, k).copies.front().version;
        EXPECT_EQ(version, parameter(toy, k).version);  // nothing is left to rebuild
        expect_current(parameter(toy, k), kBf16);
      }
    }
    for (std::size_t k = 0; k < 3; ++k) note_place(acquire(parameter(toy, k), kBf16));
  });
  EXPECT_EQ(places_.size(), 3u);
}

TEST_F(SharedCopiesTest, StayForRanksThatDidNotReadThemInAStep) {
  run([&](const Team& team, ToyParameters& toy, Training& training) {
    Parameter& weight = parameter(toy, 0);
    step(toy, training, [&] { acquire(weight, kBf16); });
    step(toy, training, [&] {
      if (team.rank() == 1) acquire(weight, kBf16);
    });
    ASSERT_EQ(weight.copies.size(), 1u);
    EXPECT_EQ(weight.copies.front().version, weight.version);
    note_place(weight.copies.front().value);
    expect_current(weight, kBf16);
    step(toy, training, [] {});
    step(toy, training, [] {});
    EXPECT_TRUE(weight.copies.empty());  // nobody reads it
  });
  EXPECT_EQ(places_.size(), 1u);
}

TEST_F(SharedCopiesTest, ACopyThatSomeRanksLackIsTheirOwn) {
  run([&](const Team& team, ToyParameters& toy, Training& training) {
    Parameter& weight = parameter(toy, 0);
    for (int i = 0; i < 2; ++i)
      step(toy, training, [&] {
        acquire(weight, kBf16);
        if (!team.is_first()) acquire(weight, kF16);
      });
    expect_current(weight, kBf16);
    EXPECT_EQ(weight.copies.size(), team.is_first() ? 1u : 2u);
    expect_current(weight, kF16);
    note_place(acquire(weight, kF16));
  });
  EXPECT_EQ(places_.size(), static_cast<std::size_t>(kRanks));
}

TEST_F(SharedCopiesTest, ACopyThatOneRankHasDroppedIsTheOthersOwn) {
  run([&](const Team& team, ToyParameters& toy, Training& training) {
    Parameter& weight = parameter(toy, 0);
    step(toy, training, [&] { acquire(weight, kBf16); });
    if (team.is_first()) weight.copies.clear();
    step(toy, training, [&] {
      if (!team.is_first()) acquire(weight, kBf16);
    });
    expect_current(weight, kBf16);
    note_place(acquire(weight, kBf16));
  });
  EXPECT_EQ(places_.size(), static_cast<std::size_t>(kRanks));
}

TEST_F(SharedCopiesTest, FollowWeightsThatWereLoaded) {
  run([&](const Team& team, ToyParameters& toy, Training& training) {
    Parameter& weight = parameter(toy, 0);
    step(toy, training, [&] { acquire(weight, kBf16); });
    if (team.is_first()) std::fill_n(weight.master.data<float>(), weight.master.size(), 1.25f);
    training.ddp.broadcast_weights();
    expect_current(weight, kBf16);
    EXPECT_EQ(static_cast<float>(acquire(weight, kBf16).data<BFloat16>()[7]), 1.25f);
    for (int i = 0; i < 2; ++i) step(toy, training, [&] { acquire(weight, kBf16); });
    expect_current(weight, kBf16);
    note_place(acquire(weight, kBf16));
  });
  EXPECT_EQ(places_.size(), 1u);
}

}  // namespace
}  // namespace hearth::parallel
