#include "hearth/train/batch_size.h"

#include "hearth/comm/thread_world.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

class BatchSize : public TrainerTest {
 protected:
  TrainingArguments automatic(std::int64_t batch) const {
    TrainingArguments args = arguments();
    args.per_device_train_batch_size = batch;
    args.auto_find_batch_size = true;
    return args;
  }
};

TEST_F(BatchSize, IsHalvedUntilItFits) {
  ToyModel model;
  model.most_sequences = 7;
  ToyTrainer trainer(model, automatic(24), toy_dataset(24));
  trainer.train();
  EXPECT_EQ(trainer.arguments().per_device_train_batch_size, 6);
  EXPECT_EQ(trainer.state().train_batch_size, 6);
  EXPECT_EQ(trainer.state().max_steps, 8);
}

TEST_F(BatchSize, TryingChangesNoResult) {
  ToyModel given(0.1f), found(0.1f);
  found.most_sequences = 4;
  ToyTrainer(given, arguments(), toy_dataset(24)).train();
  ToyTrainer(found, automatic(16), toy_dataset(24)).train();
  EXPECT_EQ(found.weights(), given.weights());
}

TEST_F(BatchSize, IsTriedWithTheLongestItems) {
  std::vector<std::int64_t> order;
  const auto data = toy_dataset(24, &order);
  const std::vector<std::int64_t> longest = by_length(*data);
  EXPECT_TRUE(std::ranges::is_sorted(longest, std::greater(), [&](std::int64_t item) { return data->length(item); }));
  ToyModel model;
  find_batch_size(model, *data, 4, {}, {});
  EXPECT_EQ(order, std::vector(longest.begin(), longest.begin() + 4));
}

// A batch of just below 1,024 tokens may need more memory than a somewhat larger one.
TEST_F(BatchSize, IsTriedWithTheLargestBatchOfFewTokensToo) {
  std::vector<std::int64_t> order;
  const auto data = toy_dataset(600, &order);
  ToyModel model;
  const auto tokens = [&](std::size_t begin, std::size_t end) {
    std::int64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += data->length(order[i]);
    return sum;
  };
  find_batch_size(model, *data, 150, {}, {});
  ASSERT_EQ(order.size(), 300u);
  EXPECT_GE(tokens(0, 150), 1024);
  EXPECT_LT(tokens(150, 300), 1024);
  EXPECT_GT(tokens(150, 300), 1024 - kToyLongest);

  // A batch of all items is the only one, and one of few tokens is the largest already.
  for (const std::int64_t batch : {600, 50}) {
    order.clear();
    find_batch_size(model, *data, batch, {}, {});
    EXPECT_EQ(std::ssize(order), batch);
  }
}

TEST_F(BatchSize, IsTheSameOnEveryRank) {
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    ToyModel model;
    if (group.rank() == 1) model.most_sequences = 2;
    const parallel::Team team = parallel::team_of(group, group.rank());
    EXPECT_EQ(find_batch_size(model, *toy_dataset(24), 8, {}, team), 2);
  });
}

TEST_F(BatchSize, OfAResumedRunIsThatOfItsCheckpoint) {
  TrainingArguments args = automatic(8);
  args.save_strategy = Strategy::steps;
  args.save_steps = 2;
  args.max_steps = 2;
  ToyModel model;
  model.most_sequences = 4;
  ToyTrainer(model, args, toy_dataset(24)).train();
  args.max_steps = 4;
  ToyModel roomy;
  ToyTrainer trainer(roomy, args, toy_dataset(24));
  trainer.train(folder_ / "out" / "checkpoint-2");
  EXPECT_EQ(trainer.arguments().per_device_train_batch_size, 4);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(BatchSize, OfNoneIsAnError) {
  ToyModel model;
  model.most_sequences = 0;
  EXPECT_EQ(error_of([&] { find_batch_size(model, *toy_dataset(4), 4, {}, {}); }),
            "--auto_find_batch_size: not even one sequence fits into memory: out of memory");
}

}  // namespace
}  // namespace hearth
