#include "hearth/io/json.h"
#include "hearth/tasks/question_answering/dataset.h"
#include "hearth/tasks/question_answering/preprocess.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using Numbers = std::vector<std::int64_t>;

// Lengths 3, 5 and 2; the second answer begins in the last token of the context.
QaFeatures some_features() {
  QaFeatures features;
  features.starts = {0, 3, 8, 10};
  features.ids = {1, 2, 3, 11, 12, 13, 14, 15, 21, 22};
  features.type_ids = {0, 1, 1, 0, 0, 1, 1, 1, 0, 1};
  features.examples = {0, 1, 2};
  features.start_positions = {1, 4, 0};
  features.end_positions = {1, 3, 0};
  return features;
}

Batch collated(const QaFeatures& features, const CollateOptions& options, const Numbers& items,
               std::uint32_t first_sample) {
  return *QaDataset(std::make_shared<const QaFeatures>(features), options).collate(items, first_sample);
}

TEST(QaDataset, HasAnItemPerFeature) {
  const QaDataset data(std::make_shared<const QaFeatures>(some_features()), {});
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.length(1), 5);
}

TEST(QaDataset, Packed) {
  const QaFeatures features = some_features();
  const Numbers indices{1, 0};
  const Batch batch = collated(features, {}, indices, 12);
  EXPECT_EQ(batch.input_ids, (std::vector<std::int32_t>{11, 12, 13, 14, 15, 1, 2, 3}));
  EXPECT_EQ(batch.token_type_ids, (std::vector<std::int32_t>{0, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(batch.starts, (Numbers{0, 5, 8}));
  EXPECT_EQ(batch.key_counts, (Numbers{5, 3}));
  EXPECT_EQ(batch.samples, (std::vector<std::uint32_t>{12, 13}));
  EXPECT_EQ(batch.labels.at("start_positions"), (Numbers{4, 1}));
  EXPECT_EQ(batch.labels.at("end_positions"), (Numbers{3, 1}));
}

TEST(QaDataset, PaddedToTheLongest) {
  const QaFeatures features = some_features();
  const Numbers indices{0, 2};
  const Batch batch = collated(features, {.padding = Padding::longest, .pad_id = 9}, indices, 0);
  EXPECT_EQ(batch.input_ids, (std::vector<std::int32_t>{1, 2, 3, 21, 22, 9}));
  EXPECT_EQ(batch.token_type_ids, (std::vector<std::int32_t>{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(batch.starts, (Numbers{0, 3, 6}));
  EXPECT_EQ(batch.key_counts, (Numbers{3, 2}));

  const Numbers all{0, 1, 2};
  const Batch eight = collated(features, {.padding = Padding::longest, .pad_to_multiple_of = 8}, all, 0);
  EXPECT_EQ(eight.starts, (Numbers{0, 8, 16, 24}));
  EXPECT_EQ(eight.labels.at("start_positions"), (Numbers{1, 4, 0}));
}

TEST(QaDataset, PaddedToMaxSeqLength) {
  const QaFeatures features = some_features();
  const Numbers all{0, 1, 2};
  const Batch batch = collated(features, {.padding = Padding::max_length, .max_seq_length = 6}, all, 0);
  EXPECT_EQ(batch.starts, (Numbers{0, 6, 12, 18}));
  EXPECT_EQ(batch.key_counts, (Numbers{3, 5, 2}));
  EXPECT_EQ(batch.labels.at("start_positions"), (Numbers{1, 5, 0}));
  EXPECT_EQ(batch.labels.at("end_positions"), (Numbers{1, 3, 0}));
}

TEST(QaDataset, LabelsAsTheReferenceLabelsPaddedWindows) {
  const LogCapture log;
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const auto examples = read_qa_dataset(fixture("qa/articles.json"));
  const io::Json file = io::read_json(fixture("qa/features.json"));
  for (const io::Json& set : file["sets"]) {
    const std::int64_t length = set["max_seq_length"];
    const QaFeatures features =
        prepare_train_features(examples, *tokenizer, {.max_seq_length = length, .doc_stride = set["doc_stride"]});
    Numbers indices, expected;
    for (const io::Json& feature : set["features"]) {
      indices.push_back(std::ssize(indices));
      expected.push_back(feature["padded_start"]);
    }
    const Batch batch = collated(features, {.padding = Padding::max_length, .max_seq_length = length}, indices, 0);
    EXPECT_EQ(batch.labels.at("start_positions"), expected);
  }
}

TEST(QaDataset, WithoutLabels) {
  QaFeatures features = some_features();
  features.start_positions.own().clear();
  features.end_positions.own().clear();
  const Numbers indices{2};
  EXPECT_TRUE(collated(features, {}, indices, 0).labels.empty());
  const Numbers beyond{3};
  EXPECT_THROW(collated(features, {}, beyond, 0), Error);
}

}  // namespace
}  // namespace hearth::tasks
