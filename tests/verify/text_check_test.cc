#include <gtest/gtest.h>

#include "tests/verify/outcome.h"

namespace hearth::verify {
namespace {

namespace fs = std::filesystem;

using Text = TemporaryFolder;

TEST_F(Text, DataOrderNotices) {
  const auto failures = [&](const std::string& batches) {
    const fs::path file = write(
        "data_order.json",
        R"([{"n": 4, "batch_size": 2, "seed": 42, "epoch": 0, "world": 1, "rank": 0, "batches": )" + batches + "}]");
    return outcome_of([&](Report& report) { verify_data_order(file, report); }).failures;
  };
  EXPECT_EQ(failures("[[2, 3], [0, 1]]"), 0);
  EXPECT_EQ(failures("[[3, 2], [0, 1]]"), 1);
}

TEST_F(Text, DataOrderNamesWhatIsMissing) {
  const auto message = [&](const std::string& text) {
    const fs::path file = write("data_order.json", text);
    return error_of([&] { outcome_of([&](Report& report) { verify_data_order(file, report); }); });
  };
  const std::string no_batches =
      message(R"([{"n": 4, "batch_size": 2, "seed": 42, "epoch": 0, "world": 1, "rank": 0}])");
  EXPECT_TRUE(contains(no_batches, "data_order.json"));
  EXPECT_TRUE(contains(no_batches, "\"batches\""));
  EXPECT_TRUE(contains(message(R"([{"batch_size": "2"}])"), "\"batch_size\""));
  EXPECT_TRUE(contains(message("[4]"), "data_order.json"));
  EXPECT_TRUE(contains(message("{}"), "data_order.json"));
}

TEST_F(Text, TokenizerNotices) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhearth\nwarm\n");
  const auto failures = [&](const std::string& ids, const std::string& offsets) {
    write("cases.json", R"({"vocab": "vocab.txt", "lowercase": true, "cases": [{"text": "Warm hearth", "ids": )" + ids +
                            R"(, "offsets": )" + offsets + "}]}");
    return outcome_of([&](Report& report) { verify_tokenizer(folder_, folder_, report); }).failures;
  };
  EXPECT_EQ(failures("[2, 6, 5, 3]", "[[0, 0], [0, 4], [5, 11], [0, 0]]"), 0);
  EXPECT_EQ(failures("[2, 6, 1, 3]", "[[0, 0], [0, 4], [5, 11], [0, 0]]"), 1);
  EXPECT_EQ(failures("[2, 6, 5, 3]", "[[0, 0], [0, 4], [4, 11], [0, 0]]"), 1);
}

TEST_F(Text, TokenizerJsonIsRead) {
  fs::copy(fixture("tokenizer/added/tokenizer.json"), folder_);
  write("cases.json", R"({"tokenizer": "tokenizer.json", "cases": [{"text": "", "ids": [0], "offsets": [[0, 0]]}]})");
  const Outcome outcome = outcome_of([&](Report& report) { verify_tokenizer(folder_, folder_, report); });
  EXPECT_TRUE(contains(outcome.failed_lines, "1 differ")) << outcome.all_lines;
}

TEST_F(Text, TokenizerNamesWhatIsMissing) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
  const auto message = [&](const std::string& text) {
    write("cases.json", text);
    return error_of([&] { outcome_of([&](Report& report) { verify_tokenizer(folder_, folder_, report); }); });
  };
  EXPECT_TRUE(contains(message(R"({"lowercase": true})"), "cases.json lacks the key \"vocab\""));
  EXPECT_TRUE(contains(message(R"({"vocab": "vocab.txt"})"), "cases.json lacks the key \"lowercase\""));
  EXPECT_TRUE(contains(message(R"({"vocab": "vocab.txt", "lowercase": true})"), "cases.json lacks the key \"cases\""));
  EXPECT_TRUE(
      contains(message(R"({"vocab": "vocab.txt", "lowercase": true, "cases": [{"text": "a", "ids": [2, 1, 3]}]})"),
               "cases.json lacks the key \"offsets\""));
}

TEST_F(Text, QuestionAnsweringNamesWhatIsMissing) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
  const auto message = [&](const std::string& text) {
    write("all.json", text);
    return error_of([&] { outcome_of([&](Report& report) { verify_question_answering(folder_, folder_, report); }); });
  };
  EXPECT_TRUE(contains(message("{}"), "all.json lacks the key \"vocab\""));
  EXPECT_TRUE(contains(message(R"({"vocab": "vocab.txt"})"), "all.json lacks the key \"source\""));
}

}  // namespace
}  // namespace hearth::verify
