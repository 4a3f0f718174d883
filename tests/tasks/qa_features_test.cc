#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"
#include "hearth/io/sha256.h"
#include "hearth/tasks/question_answering/feature_cache.h"
#include "hearth/tasks/question_answering/features.h"
#include "hearth/tasks/question_answering/preprocess.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using io::Json;
using tokenizer::Offset;
using QaFeaturesTest = TemporaryFolder;

Json offsets_json(std::span<const Offset> offsets) {
  Json list = Json::array();
  for (const Offset& offset : offsets) {
    list.push_back(offset == QaFeatures::kNoOffset ? Json() : Json::array({offset.begin, offset.end}));
  }
  return list;
}

template <class T>
Json list_json(std::span<const T> values) {
  return std::vector<std::int64_t>(values.begin(), values.end());
}

// Compares both kinds of features with those expected.
void expect_features(const Json& expected, std::span<const QaExample> examples, const tokenizer::Tokenizer& tokenizer,
                     const QaFeatureOptions& options) {
  const QaFeatures train = prepare_train_features(examples, tokenizer, options);
  const QaFeatures validation = prepare_validation_features(examples, tokenizer, options);
  ASSERT_EQ(train.size(), std::ssize(expected));
  EXPECT_EQ(train.ids, validation.ids);
  EXPECT_EQ(train.starts, validation.starts);
  for (std::int64_t f = 0; f < train.size(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    SCOPED_TRACE(fmt::format("max_seq_length {}, feature {}", options.max_seq_length, f));
    EXPECT_EQ(examples[static_cast<std::size_t>(train.examples[at])].id, expected[at]["example_id"].get<std::string>());
    EXPECT_EQ(list_json(train.ids_of(f)), expected[at]["input_ids"]);
    EXPECT_EQ(list_json(train.type_ids_of(f)), expected[at]["token_type_ids"]);
    EXPECT_EQ(offsets_json(validation.offsets_of(f)), expected[at]["offsets"]);
    EXPECT_EQ(train.start_positions[at], expected[at]["start"]);
    EXPECT_EQ(train.end_positions[at], expected[at]["end"]);
  }
}

constexpr QaFeatureLimits kFixtureLimits{
    .kind = QaFeatureKind::validation, .examples = 10, .vocab_size = 4000, .max_seq_length = 64};

std::vector<QaExample> fixture_examples() { return read_qa_dataset(fixture("qa/articles.json")); }

TEST(QaFeatures, EqualThoseOfTokenizers) {
  const LogCapture log;
  const auto examples = fixture_examples();
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const Json expected = io::read_json(fixture("qa/features.json"));
  for (const Json& set : expected["sets"])
    expect_features(set["features"], examples, *tokenizer,
                    {.max_seq_length = set["max_seq_length"], .doc_stride = set["doc_stride"]});
}

TEST(QaFeatures, AreTheSameForEveryFileForm) {
  const LogCapture log;
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const QaFeatureOptions options{.max_seq_length = 64, .doc_stride = 24};
  const QaFeatures expected = prepare_train_features(fixture_examples(), *tokenizer, options);
  std::vector<std::filesystem::path> files;
  for (const char* name : {"qa/records.json", "qa/records.jsonl", "qa/records.csv"}) files.push_back(fixture(name));
  for (const auto& entry : std::filesystem::directory_iterator(fixture("qa/forms"))) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 17u);
  for (const auto& file : files) {
    const QaFeatures features = prepare_train_features(read_qa_dataset(file), *tokenizer, options);
    EXPECT_EQ(features.ids, expected.ids) << file;
    EXPECT_EQ(features.starts, expected.starts) << file;
    EXPECT_EQ(features.start_positions, expected.start_positions) << file;
    EXPECT_EQ(features.end_positions, expected.end_positions) << file;
  }
  EXPECT_TRUE(log.warnings.empty());
}

TEST(QaFeatures, QuestionsWhoseAnswersDoNotOccurAreNotTrainedOn) {
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const auto context = std::make_shared<const std::string>("the lamp is high");
  const QaAnswer absent{"green"}, lamp{"lamp", 4};
  std::vector<QaExample> examples{{"absent", "", context, "who", {absent}},
                                  {"second", "", context, "who", {absent, lamp}},
                                  {"none", "", context, "who", {}}};
  const QaFeatureOptions options{.max_seq_length = 64, .doc_stride = 8};
  const QaFeatures train = prepare_train_features(examples, *tokenizer, options);
  EXPECT_EQ(train.examples, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(train.start_positions, (std::vector<std::int32_t>{4, 0}));
  EXPECT_EQ(prepare_validation_features(examples, *tokenizer, options).size(), 3);
  examples.resize(1);
  EXPECT_TRUE(contains(error_of([&] { prepare_train_features(examples, *tokenizer, options); }),
                       "nothing to train on: not one of 1 questions"));
}

TEST(QaFeatures, DoNotDependOnThreads) {
  const LogCapture log;
  std::vector<QaExample> examples;
  for (int i = 0; i < 60; ++i) {
    const auto some = fixture_examples();
    examples.insert(examples.end(), some.begin(), some.end());
  }
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const QaFeatureOptions options{.max_seq_length = 64, .doc_stride = 24};
  const int threads = cpu::num_threads();
  cpu::set_num_threads(1);
  const QaFeatures one = prepare_train_features(examples, *tokenizer, options);
  cpu::set_num_threads(3);
  std::vector<std::int64_t> progress;
  const QaFeatures three = prepare_train_features(examples, *tokenizer, options, [&](auto done, auto total) {
    EXPECT_EQ(total, 600);
    progress.push_back(done);
  });
  cpu::set_num_threads(threads);
  EXPECT_EQ(one.ids, three.ids);
  EXPECT_EQ(one.starts, three.starts);
  EXPECT_EQ(one.start_positions, three.start_positions);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.back(), 600);
}

// Every word of every context is in some window, however short the windows are.
TEST(QaFeatures, WindowsHoldTheWholeContext) {
  const auto examples = fixture_examples();
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  for (const std::int64_t max_seq_length : {33, 64, 384}) {
    const QaFeatures features = prepare_validation_features(examples, *tokenizer, {max_seq_length, 4});
    std::vector<std::set<std::pair<int, int>>> seen(examples.size());
    for (std::int64_t f = 0; f < features.size(); ++f)
      for (const Offset& offset : features.offsets_of(f))
        if (offset != QaFeatures::kNoOffset)
          seen[static_cast<std::size_t>(features.examples[static_cast<std::size_t>(f)])].emplace(offset.begin,
                                                                                                 offset.end);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      std::set<std::pair<int, int>> all;
      for (const Offset& offset : tokenizer->pieces(*examples[i].context).offsets)
        all.emplace(offset.begin, offset.end);
      EXPECT_EQ(seen[i], all) << examples[i].id << " in windows of " << max_seq_length;
    }
  }
}

TEST(QaFeatures, StrideMustFit) {
  const LogCapture log;
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const auto error_with = [&](std::int64_t max_seq_length, std::int64_t doc_stride) {
    return error_of([&] {
      prepare_train_features(fixture_examples(), *tokenizer,
                             {.max_seq_length = max_seq_length, .doc_stride = doc_stride});
    });
  };
  EXPECT_TRUE(contains(error_with(128, 128), "--doc_stride 128 is too large"));
  EXPECT_TRUE(contains(error_with(64, -1), "doc_stride is -1"));
  const std::string error = error_with(64, 55);
  EXPECT_TRUE(contains(error, "Question q"));
  EXPECT_TRUE(contains(error, "doc_stride 55"));
  EXPECT_TRUE(contains(error_with(5, 0), "leaves 0 for the context"));
}

TEST(QaFeatures, OddAnswersAreNowhere) {
  const LogCapture log;
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const auto label = [&](std::string context, QaAnswer answer) {
    const std::vector<QaExample> examples{
        {"x", "", std::make_shared<const std::string>(std::move(context)), "who", {std::move(answer)}}};
    const QaFeatures features = prepare_train_features(examples, *tokenizer, {.max_seq_length = 64, .doc_stride = 8});
    return std::pair(features.start_positions[0], features.end_positions[0]);
  };
  EXPECT_EQ(label("the lamp is high", {"lamp", 4}), std::pair(4, 4));
  EXPECT_EQ(label("the lamp is high", {"lamp", -4}), std::pair(0, 0));
  EXPECT_EQ(label("the lamp is high", {"lamp", 400}), std::pair(0, 0));
  EXPECT_EQ(label("", {"lamp", 0}), std::pair(0, 0));
  EXPECT_EQ(label(" \n", {"", 0}), std::pair(0, 0));
  EXPECT_NO_THROW(label("the lamp", {"", 0}));
}

TEST(QaFeatures, KeepFirst) {
  const LogCapture log;
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const QaFeatureOptions options{.max_seq_length = 64, .doc_stride = 24};
  QaFeatures train = prepare_train_features(fixture_examples(), *tokenizer, options);
  const std::int64_t first_tokens = train.length(0) + train.length(1) + train.length(2);
  const std::int64_t all = train.size();
  train.keep_first(100);
  EXPECT_EQ(train.size(), all);
  train.keep_first(3);
  EXPECT_EQ(train.size(), 3);
  EXPECT_EQ(train.tokens(), first_tokens);
  EXPECT_EQ(std::ssize(train.ids), train.tokens());
  EXPECT_EQ(train.end_positions.size(), 3u);
  QaFeatures validation = prepare_validation_features(fixture_examples(), *tokenizer, options);
  validation.keep_first(0);
  EXPECT_EQ(validation.tokens(), 0);
  EXPECT_TRUE(validation.offsets.empty());
}

TEST_F(QaFeaturesTest, Cache) {
  const LogCapture log;
  const auto tokenizer = tokenizer::load_tokenizer(fixture("qa"));
  const QaFeatureOptions options{.max_seq_length = 64, .doc_stride = 24};
  const QaFeatures features = prepare_validation_features(fixture_examples(), *tokenizer, options);
  const data::Cache cache(folder_ / "cache");
  const auto dataset = write("f.json", "[]");
  std::filesystem::copy(fixture("qa/vocab.txt"), folder_);
  const auto key = [&](const QaFeatureOptions& with, std::int64_t samples = -1,
                       QaFeatureKind kind = QaFeatureKind::validation) {
    return qa_cache_key(kind, {dataset}, folder_, with, samples);
  };
  const auto loaded_with = [&](const data::CacheKey& with) { return load_features(cache, with, kFixtureLimits); };
  EXPECT_FALSE(loaded_with(key(options)));
  store_features(cache, key(options), features);
  const auto loaded = loaded_with(key(options));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->starts, features.starts);
  EXPECT_EQ(loaded->ids, features.ids);
  EXPECT_EQ(loaded->type_ids, features.type_ids);
  EXPECT_EQ(loaded->examples, features.examples);
  EXPECT_EQ(loaded->offsets, features.offsets);
  EXPECT_FALSE(loaded->has_labels());

  EXPECT_FALSE(loaded_with(key({.max_seq_length = 65, .doc_stride = 24})));
  EXPECT_FALSE(loaded_with(key({.max_seq_length = 64, .doc_stride = 25})));
  EXPECT_FALSE(loaded_with(key(options, 3)));
  EXPECT_FALSE(loaded_with(key(options, -1, QaFeatureKind::train)));
  write("tokenizer_config.json", "{\"do_lower_case\": false}");
  EXPECT_FALSE(loaded_with(key(options)));
  std::filesystem::remove(folder_ / "tokenizer_config.json");
  EXPECT_TRUE(loaded_with(key(options)));
  write("vocab.txt", "[PAD]\n");
  EXPECT_FALSE(loaded_with(key(options)));
}

// A file with the right checksum and values that no preprocessing makes: nothing is read out of bounds, the file counts
// as damaged.
class CraftedCache : public TemporaryFolder {
 protected:
  void expect_refused(const QaFeatures& good, const QaFeatureLimits& limits,
                      const std::vector<std::function<void(QaFeatures&)>>& crafts) {
    const data::Cache cache(folder_);
    const data::CacheKey key = data::CacheKey().add("key", "crafted");
    LogCapture log;
    store_features(cache, key, good);
    EXPECT_TRUE(load_features(cache, key, limits));
    EXPECT_TRUE(log.warnings.empty());
    for (std::size_t i = 0; i < crafts.size(); ++i) {
      QaFeatures crafted = good;
      crafts[i](crafted);
      store_features(cache, key, crafted);
      EXPECT_FALSE(load_features(cache, key, limits)) << "craft " << i;
      ASSERT_EQ(log.warnings.size(), i + 1);
      EXPECT_TRUE(contains(log.warnings[i], "is damaged")) << log.warnings[i];
    }
  }

  const std::shared_ptr<const tokenizer::Tokenizer> tokenizer_ = tokenizer::load_tokenizer(fixture("qa"));
  const QaFeatureOptions options_{.max_seq_length = 64, .doc_stride = 24};
  const std::vector<std::function<void(QaFeatures&)>> arrays_{
      [](QaFeatures& f) { f.starts.own().clear(); },
      [](QaFeatures& f) { f.starts.own()[0] = 1; },
      [](QaFeatures& f) { f.starts.own()[1] = -5; },
      [](QaFeatures& f) { f.starts.own()[2] = f.starts[1]; },
      [](QaFeatures& f) { f.starts.own()[1] = f.starts[3]; },
      [](QaFeatures& f) { f.starts.own()[1] = std::numeric_limits<std::int64_t>::max(); },
      [](QaFeatures& f) { f.starts.own().back() += 1; },
      [](QaFeatures& f) { f.starts.own().push_back(f.starts.back()); },
      [](QaFeatures& f) { f.ids.own().pop_back(); },
      [](QaFeatures& f) { f.ids.own()[3] = -1; },
      [](QaFeatures& f) { f.ids.own()[3] = 1 << 30; },
      [](QaFeatures& f) { f.type_ids.own().clear(); },
      [](QaFeatures& f) { f.type_ids.own()[0] = 200; },
      [](QaFeatures& f) { f.examples.own().pop_back(); },
      [](QaFeatures& f) { f.examples.own()[0] = -1; },
      [](QaFeatures& f) { f.examples.own()[1] = 1'000'000; },
      [](QaFeatures& f) { std::ranges::reverse(f.examples.own()); }};
};

TEST_F(CraftedCache, OfTrainingIsMadeAnew) {
  const LogCapture log;
  QaFeatureLimits limits = kFixtureLimits;
  limits.kind = QaFeatureKind::train;
  auto crafts = arrays_;
  crafts.insert(
      crafts.end(),
      {[](QaFeatures& f) { f.start_positions.own().clear(); }, [](QaFeatures& f) { f.end_positions.own().pop_back(); },
       [](QaFeatures& f) { f.start_positions.own()[0] = -1; }, [](QaFeatures& f) { f.end_positions.own()[1] = 64; },
       [](QaFeatures& f) { f.offsets.own().resize(f.ids.size()); }});
  expect_refused(prepare_train_features(fixture_examples(), *tokenizer_, options_), limits, crafts);
}

TEST_F(CraftedCache, OfEvaluationIsMadeAnew) {
  const LogCapture log;
  auto crafts = arrays_;
  crafts.insert(crafts.end(), {[](QaFeatures& f) { f.offsets.own().clear(); },
                               [](QaFeatures& f) {
                                 f.offsets.own()[20] = {-7, 3};
                               },
                               [](QaFeatures& f) {
                                 f.offsets.own()[20] = {4, 3};
                               },
                               [](QaFeatures& f) { f.start_positions.own().resize(f.examples.size()); }});
  expect_refused(prepare_validation_features(fixture_examples(), *tokenizer_, options_), kFixtureLimits, crafts);
}

// The golden files name paths relative to themselves and to their root.
struct GoldenSource {
  std::vector<QaExample> examples;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;

  explicit GoldenSource(const Json& all)
      : examples(read_qa_dataset(goldens2() / "qa" / all["source"].get<std::string>())),
        tokenizer(tokenizer::load_vocabulary(goldens2() / all["vocab"].get<std::string>(), true)) {}
};

TEST(QaFeatures, GoldensInFull) {
  if (goldens2().empty()) GTEST_SKIP() << "HEARTH_GOLDENS2_DIR is not set";
  const LogCapture log;
  const GoldenSource source(io::read_json(goldens2() / "qa" / "all.json"));
  for (const char* name : {"features_384_128.json", "features_64_24.json"}) {
    const Json expected = io::read_json(goldens2() / "qa" / name);
    std::vector<QaExample> sample;
    for (const Json& feature : expected["features"]) {
      const std::string id = feature["example_id"];
      if (!sample.empty() && sample.back().id == id) continue;
      const auto found = std::ranges::find(source.examples, id, &QaExample::id);
      ASSERT_NE(found, source.examples.end());
      sample.push_back(*found);
    }
    expect_features(expected["features"], sample, *source.tokenizer,
                    {.max_seq_length = expected["max_seq_length"], .doc_stride = expected["doc_stride"]});
  }
}

TEST(QaFeatures, GoldensOfAWholeFile) {
  if (goldens2().empty()) GTEST_SKIP() << "HEARTH_GOLDENS2_DIR is not set";
  const LogCapture log;
  const Json all = io::read_json(goldens2() / "qa" / "all.json");
  const GoldenSource source(all);
  const QaFeatures features = prepare_train_features(
      source.examples, *source.tokenizer, {.max_seq_length = all["max_seq_length"], .doc_stride = all["doc_stride"]});
  EXPECT_EQ(std::ssize(source.examples), all["examples"]);
  EXPECT_EQ(features.size(), all["features"]);
  EXPECT_EQ(features.tokens(), all["tokens"]);
  io::Sha256 hash;
  for (std::int64_t f = 0; f < features.size(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    hash.update(fmt::format("{}:{}:{}:{}\n", source.examples[static_cast<std::size_t>(features.examples[at])].id,
                            fmt::join(features.ids_of(f), ","), features.start_positions[at],
                            features.end_positions[at]));
  }
  EXPECT_EQ(hash.hex(), all["sha256_of_lines"].get<std::string>());
}

}  // namespace
}  // namespace hearth::tasks
