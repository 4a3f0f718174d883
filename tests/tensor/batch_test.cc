#include "hearth/tensor/batch.h"

#include <gtest/gtest.h>

#include "hearth/base/error.h"

namespace hearth {
namespace {

using Ids = std::vector<std::int32_t>;
using Numbers = std::vector<std::int64_t>;

TEST(Batch, StartsEmpty) {
  const Batch batch;
  EXPECT_EQ(batch.tokens(), 0);
  EXPECT_EQ(batch.sequences(), 0);
}

TEST(Batch, PacksSequencesOneAfterTheOther) {
  Batch batch;
  batch.append(Ids{5, 6, 7}, Ids{0, 0, 1}, 3);
  batch.append(Ids{8, 9}, Ids{0, 1}, 1);
  EXPECT_EQ(batch.input_ids, (Ids{5, 6, 7, 8, 9}));
  EXPECT_EQ(batch.token_type_ids, (Ids{0, 0, 1, 0, 1}));
  EXPECT_EQ(batch.starts, (Numbers{0, 3, 5}));
  EXPECT_EQ(batch.key_counts, (Numbers{3, 2}));
  EXPECT_EQ(batch.row_starts, (Numbers{0, 1, 2}));
  EXPECT_EQ(batch.samples, (std::vector<std::uint32_t>{3, 1}));
  EXPECT_EQ(batch.tokens(), 5);
  EXPECT_EQ(batch.sequences(), 2);
}

TEST(Batch, PadsWhereAsked) {
  Batch batch;
  batch.append(Ids{5, 6}, Ids{1, 1}, 0, 4, 9);
  batch.append(Ids{7, 8, 7}, Ids{0, 0, 0}, 1, 2, 9);  // longer than that: as it is
  EXPECT_EQ(batch.input_ids, (Ids{5, 6, 9, 9, 7, 8, 7}));
  EXPECT_EQ(batch.token_type_ids, (Ids{1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(batch.starts, (Numbers{0, 4, 7}));
  EXPECT_EQ(batch.key_counts, (Numbers{2, 3}));
}

TEST(Batch, CountsPositionsFromEachSequencesBeginning) {
  Batch batch;
  batch.append(Ids{5, 6}, Ids{0, 0}, 0, 3);
  batch.append(Ids{7, 8}, Ids{0, 0}, 1);
  EXPECT_EQ(batch.position_ids(), (Ids{0, 1, 2, 0, 1}));
}

TEST(Batch, NamesArraysThatContradictEachOther) {
  Batch good;
  good.append(Ids{5, 6, 7}, Ids(3), 0);
  good.append(Ids{8, 9}, Ids(2), 1);
  EXPECT_NO_THROW(good.check_consistent());
  const auto expect_refused = [&](const auto& change) {
    Batch batch = good;
    change(batch);
    EXPECT_THROW(batch.check_consistent(), Error);
  };
  expect_refused([](Batch& batch) { batch.starts = {0, 5}; });
  expect_refused([](Batch& batch) { batch.starts = {0, 6, 5}; });
  expect_refused([](Batch& batch) { batch.starts = {1, 3, 5}; });
  expect_refused([](Batch& batch) { batch.starts = {}; });
  expect_refused([](Batch& batch) { batch.samples.pop_back(); });
  expect_refused([](Batch& batch) { batch.row_starts = {0, 1, 3}; });
  expect_refused([](Batch& batch) { batch.row_starts = {0, 2, 2}; });
  expect_refused([](Batch& batch) { batch.key_counts[1] = 3; });
  expect_refused([](Batch& batch) { batch.key_counts[1] = -1; });
  expect_refused([](Batch& batch) { batch.input_ids.pop_back(); });
}

TEST(Batch, NeedsATypeForEachToken) {
  Batch batch;
  EXPECT_THROW(batch.append(Ids{5, 6}, Ids{0}, 0), Error);
}

TEST(Batch, APartHasTheSequencesWithTheirPadding) {
  Batch batch;
  for (std::uint32_t s = 0; s < 4; ++s) {
    const std::vector<std::int32_t> ids(s + 1, static_cast<std::int32_t>(10 * s));
    batch.append(ids, std::vector<std::int32_t>(ids.size(), 1), 100 + s, 3);
    batch.prompt_tokens.push_back(s);
  }
  const Batch part = batch.part(1, 3);
  part.check_consistent();
  EXPECT_EQ(part.input_ids, (std::vector<std::int32_t>{10, 10, 0, 20, 20, 20}));
  EXPECT_EQ(part.token_type_ids, (std::vector<std::int32_t>{1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(part.key_counts, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(part.samples, (std::vector<std::uint32_t>{101, 102}));
  EXPECT_EQ(part.prompt_tokens, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(batch.part(2, 2).sequences(), 0);
  EXPECT_THROW(batch.part(3, 5), Error);
}

TEST(Batch, ItemsHaveAllOfTheirTexts) {
  Batch batch;
  for (std::uint32_t s = 0; s < 3; ++s) batch.append(std::vector<std::int32_t>{1}, std::vector<std::int32_t>{0}, s);
  batch.texts_per_item = 2;
  EXPECT_THROW(batch.check_consistent(), Error);
  batch.texts_per_item = 3;
  EXPECT_NO_THROW(batch.check_consistent());
}

}  // namespace
}  // namespace hearth
