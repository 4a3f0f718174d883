#include "hearth/hub/dataset.h"

#include <gtest/gtest.h>

#include "hearth/hub/data_patterns.h"
#include "tests/setting.h"
#include "tests/support.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;

TEST(DataPatterns, StarsStayWithinANameAndTwoStarsDoNot) {
  EXPECT_TRUE(matches_path("plain_text/train-*", "plain_text/train-00000-of-00001.parquet"));
  EXPECT_FALSE(matches_path("*", "a/b.csv"));
  EXPECT_TRUE(matches_path("**", "a/b.csv"));
  EXPECT_TRUE(matches_path("**/b.csv", "b.csv"));
  EXPECT_TRUE(matches_path("a/**/d.csv", "a/b/c/d.csv"));
  EXPECT_FALSE(matches_path("a/**/d.csv", "b/d.csv"));
  EXPECT_FALSE(matches_path("**", ".git/a.csv"));
  EXPECT_FALSE(matches_path("**", "__pycache__/a.csv"));
  EXPECT_TRUE(matches_path("__special__/*", "__special__/a.csv"));
  EXPECT_TRUE(matches_path(".hidden/*", ".hidden/a.csv"));
}

// The layouts that the documentation of `datasets` lists.
TEST(DataPatterns, NamesTellTheSplits) {
  using Splits = SplitFiles;
  EXPECT_EQ(splits_by_name({"data/test-00000-of-00001.csv", "data/train-00000-of-00002.csv",
                            "data/train-00001-of-00002.csv", "data/odd-00000-of-00001.csv"}),
            (Splits{{"odd", {"data/odd-00000-of-00001.csv"}},
                    {"test", {"data/test-00000-of-00001.csv"}},
                    {"train", {"data/train-00000-of-00002.csv", "data/train-00001-of-00002.csv"}}}));
  EXPECT_EQ(splits_by_name({"data/test/a.csv", "data/train/a.csv", "data/train/b.csv"}),
            (Splits{{"test", {"data/test/a.csv"}}, {"train", {"data/train/a.csv", "data/train/b.csv"}}}));
  EXPECT_EQ(splits_by_name({"dev.jsonl", "my_train_file.jsonl", "train_0.jsonl"}),
            (Splits{{"validation", {"dev.jsonl"}}, {"train", {"my_train_file.jsonl", "train_0.jsonl"}}}));
  EXPECT_EQ(splits_by_name({"constraint.csv", "all.csv"}), (Splits{{"train", {"constraint.csv", "all.csv"}}}));
}

TEST(DataPatterns, DescriptionsAreNoData) {
  EXPECT_EQ(
      data_files_of({"README.md", "b.csv.gz", "a.jsonl", "dataset_infos.json", "script.py", "c.parquet", "d.png"}),
      (std::vector<std::string>{"a.jsonl", "b.csv.gz", "c.parquet"}));
  SplitFiles mixed{{"train", {"a.json", "a.parquet", "b.parquet", "c.parquet"}}, {"validation", {"v.json"}}};
  keep_one_format(mixed);
  EXPECT_EQ(mixed, (SplitFiles{{"train", {"a.parquet", "b.parquet", "c.parquet"}}}));
}

constexpr const char* kCard = R"(---
license: other
configs:
- config_name: cola
  data_files:
  - split: train
    path: cola/train-*
- config_name: mrpc
  default: true
  data_files:
  - split: train
    path:
    - mrpc/train-a.jsonl
    - mrpc/train-b*
  - split: validation
    path: mrpc/validation-*
dataset_info:
- config_name: mrpc
  features:
  - name: sentence1
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': not_equivalent
          '1': equivalent
  - name: tags
    sequence:
      class_label:
        names:
          '0': O
          '1': B-X
---
# GLUE
--- not the head
)";

TEST(DatasetCard, SaysConfigurationsSplitsAndClasses) {
  const DatasetCard card = parse_dataset_card(kCard, "README.md");
  ASSERT_EQ(card.configs.size(), 2u);
  EXPECT_EQ(card.configs[1].name, "mrpc");
  EXPECT_TRUE(card.configs[1].is_default);
  ASSERT_EQ(card.configs[1].splits.size(), 2u);
  EXPECT_EQ(card.configs[1].splits[0].patterns, (std::vector<std::string>{"mrpc/train-a.jsonl", "mrpc/train-b*"}));
  const ClassNames expected{{"label", {"not_equivalent", "equivalent"}}, {"tags", {"O", "B-X"}}};
  EXPECT_EQ(card.class_names.at("mrpc"), expected);
}

TEST(DatasetCard, OtherTextsDescribeNothing) {
  for (const char* text : {"", "# A data set\n", "---\n---\n", "---\nlicense: mit\n---\n", "---\nnever closed: yes\n"})
    EXPECT_TRUE(parse_dataset_card(text, "README.md").configs.empty()) << text;
  const auto error_in = [](const std::string& head) {
    return error_of([&] { parse_dataset_card("---\n" + head + "---\n", "README.md"); });
  };
  EXPECT_TRUE(contains(error_in("configs:\n- data_files: 7\n"), "README.md: data_files must be a path"));
  EXPECT_TRUE(contains(error_in("configs:\n- data_files:\n  - split: train\n"), "must have split and path"));
}

class DatasetFolder : public TemporaryFolder {
 protected:
  void add(const std::string& name, const std::string& contents = "{}\n") const {
    fs::create_directories((folder_ / name).parent_path());
    write(name, contents);
  }
  DatasetFiles find(const std::string& config = "") const {
    return find_dataset({folder_.string(), config, "main"}, {}, {});
  }
};

TEST_F(DatasetFolder, AFolderIsADataSetToo) {
  add("train.jsonl"), add("validation.jsonl");
  const DatasetFiles found = find();
  EXPECT_EQ(found.splits.at("train"), std::vector<fs::path>{folder_ / "train.jsonl"});
  EXPECT_EQ(found.splits.at("validation"), std::vector<fs::path>{folder_ / "validation.jsonl"});
}

TEST_F(DatasetFolder, TheCardComesBeforeTheNames) {
  add("README.md", kCard);
  for (const char* file : {"cola/train-0.jsonl", "mrpc/train-b0.jsonl", "mrpc/train-a.jsonl", "mrpc/validation-0.jsonl",
                           "other/train-0.jsonl"})
    add(file);
  const DatasetFiles found = find();
  EXPECT_EQ(found.splits.at("train"),
            (std::vector<fs::path>{folder_ / "mrpc/train-a.jsonl", folder_ / "mrpc/train-b0.jsonl"}));
  EXPECT_EQ(found.class_names.at("label"), (std::vector<std::string>{"not_equivalent", "equivalent"}));
  EXPECT_EQ(find("cola").splits.at("train"), std::vector<fs::path>{folder_ / "cola/train-0.jsonl"});
  const std::string wrong = error_of([&] { find("mprc"); });
  EXPECT_TRUE(contains(wrong, "has no configuration mprc; it has cola, mrpc; did you mean mrpc?")) << wrong;
}

TEST_F(DatasetFolder, AFolderOfTheConfigurationsNameHasItsFiles) {
  add("english/train.csv"), add("german/train.csv");
  EXPECT_EQ(find("german").splits.at("train"), std::vector<fs::path>{folder_ / "german/train.csv"});
  EXPECT_TRUE(contains(error_of([&] { find("french"); }), "has no configuration french"));
}

TEST_F(DatasetFolder, MissingShardsAreAnError) {
  add("data/train-00000-of-00002.jsonl");
  EXPECT_TRUE(contains(error_of([&] { find(); }), "only 1 of the 2 files of split train"));
}

}  // namespace
}  // namespace hearth::hub
