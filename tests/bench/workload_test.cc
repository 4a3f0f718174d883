#include "hearth/bench/workload.h"

#include <set>

#include "hearth/bench/model_config.h"
#include "hearth/bench/spread.h"
#include "hearth/models/pretrained.h"
#include "tests/bench/small_model.h"

namespace hearth::bench {
namespace {

using Lengths = std::vector<std::int64_t>;

TEST_F(SmallModel, ReadsOneLengthALine) {
  EXPECT_EQ(read_lengths(write("lengths.txt", "3\n12\r\n\n7\n"), 12), (Lengths{3, 12, 7}));
}

TEST_F(SmallModel, NamesTheLineThatIsNoLength) {
  const auto error = [&](const std::string& text) {
    const std::string file = write("lengths.txt", text);
    return error_of([&] { read_lengths(file, 12); });
  };
  EXPECT_TRUE(contains(error("3\nlong\n"), "lengths.txt, line 2: 'long'"));
  EXPECT_TRUE(contains(error("3\n4 5\n"), "line 2: '4 5'"));
  EXPECT_TRUE(contains(error("0\n"), "line 1: '0'"));
  EXPECT_TRUE(contains(error("13\n"), "line 1: a sequence of 13 tokens is longer than --seq 12"));
  EXPECT_TRUE(contains(error("\n"), "has no lengths"));
  EXPECT_TRUE(contains(error_of([&] { read_lengths(folder_ / "nothing.txt", 12); }), "nothing.txt"));
}

nn::TransformerConfig small_config() {
  nn::TransformerConfig config;
  config.vocab_size = 4;
  config.token_types = 2;
  config.padding_id = 3;
  return config;
}

TEST(WorkloadTest, GroupsLengthsAndBeginsAgain) {
  Workload workload(small_config(), 2, 9, {3, 5, 8});
  EXPECT_EQ(workload.next().starts, (Lengths{0, 3, 8}));
  EXPECT_EQ(workload.next().starts, (Lengths{0, 8, 11}));
  EXPECT_EQ(workload.next().starts, (Lengths{0, 5, 13}));
}

TEST(WorkloadTest, FillsEveryPosition) {
  Workload workload(small_config(), 3, 7, {});
  const Batch batch = workload.next();
  EXPECT_EQ(batch.tokens(), 21);
  EXPECT_EQ(batch.key_counts, (Lengths{7, 7, 7}));
  for (const std::int32_t id : batch.input_ids) EXPECT_TRUE(0 <= id && id < 3) << id;  // 3 is padding
  for (const char* name : {"start_positions", "end_positions"})
    for (const std::int64_t position : batch.labels.at(name)) EXPECT_TRUE(0 <= position && position < 7) << position;
}

TEST(WorkloadTest, MasksTokensToBeFound) {
  nn::TransformerConfig config = small_config();
  config.vocab_size = 1000;
  Workload workload(config, 20, 100, {}, Workload::Labels::of_masked_tokens);
  const Batch batch = workload.next();
  const std::vector<std::int64_t>& labels = batch.labels.at("labels");
  ASSERT_EQ(std::ssize(labels), batch.tokens());
  double masked = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == -100) continue;
    masked += 1;
    EXPECT_EQ(batch.input_ids[i], 103);
    EXPECT_TRUE(0 <= labels[i] && labels[i] < 1000) << labels[i];
  }
  EXPECT_NEAR(masked / static_cast<double>(labels.size()), 0.15, 0.03);
}

TEST_F(SmallModel, FindsModelsByNameAndByFolder) {
  const models::Config base = model_config("bert-base");
  EXPECT_EQ(base.size("num_hidden_layers"), 12);
  EXPECT_EQ(base.size("hidden_size"), 768);
  EXPECT_EQ(base.rate_or("hidden_dropout_prob", 0), 0.1f);
  EXPECT_EQ(model_config("bert-large").size("intermediate_size"), 4096);
  EXPECT_EQ(model_config(folder_.string()).size("vocab_size"), 50);
  EXPECT_EQ(transformer_config(model_config(folder_.string())).intermediate, 64);
  write("config.json", R"({"model_type": "distilbert", "vocab_size": 50, "dim": 32, "n_layers": 1, "n_heads": 2,
      "hidden_dim": 96, "max_position_embeddings": 40})");
  EXPECT_EQ(transformer_config(model_config(folder_.string())).intermediate, 96);
  EXPECT_TRUE(contains(error_of([] { model_config("bert-huge"); }), "built-in models are bert-tiny, bert-mini"));
}

// The numbers of weights of transformers' bare models of these names.
TEST(BuiltInModels, HaveTheSizesOfThePublishedOnes) {
  for (const auto& [name, weights] : {std::pair{"bert-base", 109'482'240},
                                      {"distilbert-base", 66'362'880},
                                      {"roberta-base", 124'645'632},
                                      {"distilroberta-base", 82'118'400},
                                      {"xlm-roberta-base", 278'043'648},
                                      {"electra-small", 13'483'008},
                                      {"electra-base", 108'891'648},
                                      {"albert-base", 11'683'584},
                                      {"albert-large", 17'683'968}})
    EXPECT_EQ(models::outline(model_config(name), models::HeadKind::embedding)->parameters().element_count(), weights)
        << name;
  for (const std::string& name : built_in_models()) EXPECT_NO_THROW(transformer_config(model_config(name))) << name;
}

TEST(SpreadTest, OddAndEvenCounts) {
  const Spread odd = spread_of({5, 1, 3, 2, 9}), even = spread_of({4, 1});
  EXPECT_EQ(odd.mean, 4);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(even.median, 2.5);
}

TEST(WorkloadTest, UsesAsManyWordsAsATextDoes) {
  nn::TransformerConfig config;
  config.vocab_size = 30522;
  Workload workload(config, 48, 384, {});
  const Batch batch = workload.next();
  std::set<std::int32_t> words(batch.input_ids.begin(), batch.input_ids.end());
  EXPECT_GT(words.size(), 4000u);  // of 18,432 tokens
  EXPECT_LT(words.size(), 8000u);
  EXPECT_GE(*words.begin(), 0);
  EXPECT_LT(*words.rbegin(), 30522);
}

}  // namespace
}  // namespace hearth::bench
