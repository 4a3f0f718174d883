#include "hearth/data/data_loader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/base/error.h"
#include "hearth/data/token_dataset.h"
#include "tests/support.h"

namespace hearth {
namespace {

// Item i is one token, i, with the label i.
DatasetPtr numbered(int count) {
  auto dataset = std::make_shared<TokenDataset>();
  for (std::int32_t i = 0; i < count; ++i) dataset->add(std::vector{i}, {}, i);
  return dataset;
}

using Epoch = std::vector<std::vector<std::int64_t>>;

Epoch items_of(DataLoader& loader) {
  Epoch epoch;
  for (const BatchPtr& batch : loader) epoch.push_back(batch->labels.at("labels"));
  return epoch;
}

TEST(DataLoader, OneRankGetsAllItemsInOrderAndAShorterLastBatch) {
  DataLoader loader(numbered(5), {.batch_size = 2});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(items_of(loader), (Epoch{{0, 1}, {2, 3}, {4}}));
}

TEST(DataLoader, DropLastDropsTheShorterBatch) {
  DataLoader loader(numbered(5), {.batch_size = 2, .drop_last = true});
  EXPECT_EQ(items_of(loader), (Epoch{{0, 1}, {2, 3}}));
}

TEST(DataLoader, ShufflingDependsOnSeedAndEpoch) {
  DataLoader loader(numbered(20), {.batch_size = 20, .shuffle = true, .seed = 7});
  Epoch first = items_of(loader), second = items_of(loader);
  EXPECT_NE(first, second);
  loader.set_epoch(0);
  EXPECT_EQ(items_of(loader), first);
  std::ranges::sort(first[0]);
  std::ranges::sort(second[0]);
  EXPECT_EQ(first, second);
}

TEST(DataLoader, RanksShareTheBatchesAndTheLastRoundRepeats) {
  DataLoader first(numbered(5), {.batch_size = 2, .rank = 0, .world = 2});
  DataLoader second(numbered(5), {.batch_size = 2, .rank = 1, .world = 2});
  EXPECT_EQ(items_of(first), (Epoch{{0, 1}, {4, 0}}));
  EXPECT_EQ(items_of(second), (Epoch{{2, 3}, {1, 2}}));
}

TEST(DataLoader, PositionCountsTheItemsOfARoundWithoutRepetitions) {
  DataLoader loader(numbered(5), {.batch_size = 2, .rank = 1, .world = 2});
  EXPECT_FALSE(loader.position().iterating);
  std::vector<std::int64_t> items;
  std::vector<bool> ends;
  for ([[maybe_unused]] const BatchPtr& batch : loader) {
    items.push_back(loader.position().items);
    ends.push_back(loader.position().at_end);
  }
  EXPECT_EQ(items, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(ends, (std::vector{false, true}));
  EXPECT_FALSE(loader.position().iterating);
}

TEST(DataLoader, LoadersThatShareAPositionShowThatOfTheInnermostLoop) {
  const auto position = std::make_shared<LoaderPosition>();
  DataLoader outer(numbered(4), {.batch_size = 2}, position), inner(numbered(3), {.batch_size = 3}, position);
  for ([[maybe_unused]] const BatchPtr& batch : outer) {
    const LoaderPosition before = *position;
    for ([[maybe_unused]] const BatchPtr& other : inner) EXPECT_EQ(position->items, 3);
    EXPECT_EQ(position->items, before.items);
    EXPECT_EQ(position->at_end, before.at_end);
    break;
  }
  EXPECT_FALSE(position->iterating);
}

// Item 1 has no batch, and that of item 2 throws.
class Broken final : public Dataset {
 public:
  std::int64_t size() const override { return 3; }
  std::int64_t length(std::int64_t) const override { return 1; }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t) const override {
    if (items.front() == 2) throw Error("item 2 is broken");
    return items.front() == 1 ? nullptr : shared_batch({});
  }
};

TEST(DataLoader, FailuresOfTheDatasetReachTheLoop) {
  const auto all_of = [](std::int64_t batch_size) {
    DataLoader loader(std::make_shared<Broken>(), {.batch_size = batch_size});
    for ([[maybe_unused]] const BatchPtr& batch : loader) continue;
  };
  EXPECT_TRUE(contains(error_of([&] { all_of(1); }), "[Dataset::collate] there is no batch for items"));
  EXPECT_EQ(error_of([&] { all_of(2); }), "item 2 is broken");
}

TEST(DataLoader, WrongOptionsAreErrors) {
  EXPECT_TRUE(contains(error_of([] { DataLoader(nullptr, {}); }), "there is no dataset"));
  EXPECT_TRUE(contains(error_of([] { DataLoader(numbered(0), {}); }), "the dataset is empty"));
  EXPECT_TRUE(
      contains(error_of([] { DataLoader(numbered(1), {.batch_size = 0}); }), "batch_size must be at least 1, got 0"));
  EXPECT_TRUE(contains(error_of([] { DataLoader(numbered(1), {.rank = 2, .world = 2}); }), "there is no rank 2 of 2"));
}

TEST(TokenDataset, BatchesArePackedWithTypesAndLabels) {
  TokenDataset dataset;
  dataset.add(std::vector<std::int32_t>{5, 6, 7}, std::vector<std::int32_t>{0, 0, 1}, 1);
  dataset.add(std::vector<std::int32_t>{8}, {}, 0);
  EXPECT_EQ(dataset.length(0), 3);
  const BatchPtr batch = dataset.collate(std::vector<std::int64_t>{1, 0}, 4);
  EXPECT_EQ(batch->input_ids, (std::vector<std::int32_t>{8, 5, 6, 7}));
  EXPECT_EQ(batch->token_type_ids, (std::vector<std::int32_t>{0, 0, 0, 1}));
  EXPECT_EQ(batch->samples, (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(batch->labels.at("labels"), (std::vector<std::int64_t>{0, 1}));
}

TEST(TokenDataset, LabelsMayBelongToTokensAndMayBeFloats) {
  TokenDataset dataset;
  dataset.add_item({.ids = {7, 8}, .labels = {{"labels", {1, -100}}}, .float_labels = {{"score", {0.5f}}}});
  dataset.add_item({.ids = {9}, .labels = {{"labels", {2}}}, .float_labels = {{"score", {1.5f}}}});
  const BatchPtr batch = dataset.collate(std::vector<std::int64_t>{1, 0}, 0);
  EXPECT_EQ(batch->labels.at("labels"), (std::vector<std::int64_t>{2, 1, -100}));
  EXPECT_EQ(batch->float_labels.at("score"), (std::vector<float>{1.5f, 0.5f}));
  EXPECT_TRUE(contains(error_of([&] {
                         dataset.add_item({.ids = {1, 2, 3}, .labels = {{"labels", {1, 2}}}});
                       }),
                       "text 2 has 2 labels, but needs one, or one for each of its 3 tokens"));
  EXPECT_TRUE(contains(error_of([&] {
                         dataset.add_item({.ids = {1}, .labels = {{"start_positions", {0}}}});
                       }),
                       "text 2 has other labels"));
}

TEST(TokenDataset, TextsThatDoNotFitAreErrors) {
  TokenDataset dataset;
  EXPECT_TRUE(contains(error_of([&] { dataset.add({}); }), "text 0 has no tokens"));
  const std::vector<std::int32_t> two{1, 2}, three{1, 2, 3};
  EXPECT_TRUE(contains(error_of([&] { dataset.add(two, three); }), "text 0 has 2 tokens but 3 type ids"));
  dataset.add(two, {}, 1);
  EXPECT_TRUE(contains(error_of([&] { dataset.add(two); }), "text 1 has other labels than those before it"));
}

}  // namespace
}  // namespace hearth
