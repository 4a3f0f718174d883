#include "hearth/train/batch_size.h"

#include <set>
#include <span>

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
TEST_F(BatchSize, IsTriedWithABatchOfFewTokensToo) {
  std::vector<std::int64_t> order;
  const auto data = toy_dataset(600, &order);
  const auto tried = [&](std::int64_t batch) {
    order.clear();
    ToyModel model;
    find_batch_size(model, *data, batch, {}, {});
    return order;
  };
  const auto tokens = [&](std::span<const std::int64_t> items) {
    std::int64_t sum = 0;
    for (const std::int64_t item : items) sum += data->length(item);
    return sum;
  };
  for (const std::int64_t batch : {150, 190}) {
    const std::vector<std::int64_t> items = tried(batch);
    const auto longest = std::span(items).first(static_cast<std::size_t>(batch)),
               few = std::span(items).subspan(static_cast<std::size_t>(batch));
    EXPECT_GE(tokens(longest), 1024);
    EXPECT_EQ(tokens(few), 1023);
    EXPECT_LE(std::ssize(few), batch);
    EXPECT_EQ(std::set(few.begin(), few.end()).size(), few.size());
  }
  // A batch of few tokens is the largest already, and one of twice as many tokens needs more than a smaller one.
  for (const std::int64_t batch : {50, 500}) EXPECT_EQ(std::ssize(tried(batch)), batch);
}

TEST_F(BatchSize, IsTriedWithFewerItemsOfEqualLength) {
  std::vector<std::int64_t> order;
  const auto data = toy_dataset(300, &order);
  data->lengths.assign(300, 8);
  ToyModel model;
  find_batch_size(model, *data, 130, {}, {});
  EXPECT_EQ(order.size(), 130u + 127u);
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
