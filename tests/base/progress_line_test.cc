#include "hearth/base/progress_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hearth/base/text_layout.h"

namespace hearth {
namespace {

const ProgressLine kTraining{
    "training", 106, 200, 70, 3700, {"loss 1.2345", "lr 3e-05", "5000 tokens/s", "34% of peak matmul speed"}, {}};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ProgressLine, AtUsualWidths) {
  EXPECT_EQ(fitted(kTraining, 200),
            "training |############------------|  53% 106/200 [01:10 elapsed, 1:01:40 left] loss 1.2345, lr 3e-05, "
            "5000 tokens/s, 34% of peak matmul speed");
  EXPECT_EQ(fitted(kTraining, 120),
            "training |############------------|  53% 106/200 [01:10 elapsed, 1:01:40 left] loss 1.2345, lr 3e-05, "
            "5000 tokens/s");
  EXPECT_EQ(fitted(kTraining, 80), "training |######-------|  53% 106/200 [01:10 elapsed, 1:01:40 left] loss 1.2345");
  EXPECT_EQ(fitted(kTraining, 60), "training  53% 106/200 [01:10 elapsed, 1:01:40 left]");
  EXPECT_EQ(fitted(kTraining, 50), "training 53% 106/200, 1:01:40 left");
  EXPECT_EQ(fitted(kTraining, 30), "53% 106/200, 1:01:40 left");
  EXPECT_EQ(fitted(kTraining, 20), "53% 106/200");
  EXPECT_EQ(fitted(kTraining, 5), "53%");
  EXPECT_EQ(fitted(kTraining, 3), "53");
  EXPECT_EQ(fitted(kTraining, 1), "");
  EXPECT_EQ(fitted(kTraining, 0), "");
}

TEST(ProgressLine, NeverReachesTheLastColumn) {
  ProgressLine tokenising = kTraining, huge = kTraining, empty;
  tokenising.title = "tokenising 中文/une très longue donnée d'entraînement.json";
  huge.done = huge.total = 1'000'000'000'000'000;
  huge.seconds = huge.seconds_left = 1'000'000'000;
  for (const ProgressLine& line : {kTraining, tokenising, huge, empty}) {
    for (std::size_t columns = 1; columns <= 250; ++columns) {
      const std::string text = fitted(line, columns);
      EXPECT_LT(columns_of(text), columns) << text;
      EXPECT_EQ(printable(text), text);
    }
  }
}

TEST(ProgressLine, WiderTerminalsSayMore) {
  for (const char* part : {"53%", "106/200", "1:01:40 left", "training", "01:10 elapsed", "|#", "loss 1.2345",
                           "lr 3e-05", "5000 tokens/s", "34% of peak matmul speed"}) {
    bool seen = false;
    for (std::size_t columns = 1; columns <= 250; ++columns) {
      const bool says = count_of(fitted(kTraining, columns), part) == 1;
      EXPECT_TRUE(says || !seen) << part << " is missing at " << columns;
      seen = seen || says;
    }
    EXPECT_TRUE(seen) << part;
  }
}

TEST(ProgressLine, OneHundredPercentMeansAllIsDone) {
  ProgressLine line = kTraining;
  line.total = 1000;
  line.done = 999;
  EXPECT_EQ(fitted(line, 6), "99%");
  line.done = 1000;
  EXPECT_EQ(fitted(line, 6), "100%");
  EXPECT_NE(fitted(line, 200).find("|########################| 100% 1000/1000"), std::string::npos);
  line.done = 5;  // more than was announced
  line.total = 4;
  EXPECT_EQ(fitted(line, 6), "100%");
}

TEST(ProgressLine, WithoutATotalOnlyCounts) {
  const ProgressLine line{"tokenising", 4096, 0, 70, 0, {"5 files"}, {}};
  EXPECT_EQ(fitted(line, 80), "tokenising 4096 [01:10 elapsed] 5 files");
  EXPECT_EQ(fitted(line, 35), "tokenising 4096 [01:10 elapsed]");
  EXPECT_EQ(fitted(line, 12), "4096");
  EXPECT_EQ(fitted(line, 3), "40");
  EXPECT_EQ(plain_text(line), "tokenising: 4096 [01:10 elapsed] 5 files");
}

TEST(ProgressLine, PlainText) {
  EXPECT_EQ(plain_text(kTraining),
            "training:  53% 106/200 [01:10 elapsed, 1:01:40 left] loss 1.2345, lr 3e-05, 5000 tokens/s, 34% of peak "
            "matmul speed");
  EXPECT_EQ(plain_text({"evaluating", 1, 2, 3, 4, {}, {}}), "evaluating:  50% 1/2 [00:03 elapsed, 00:04 left]");
}

TEST(ProgressLine, IsSentThroughAPipe) {
  ProgressLine line = kTraining;
  line.moment = ProgressLine::Moment::report;
  const std::string text = encoded(line);
  EXPECT_EQ(text.find('\n'), text.npos);
  const auto received = decoded_progress(text);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->moment, line.moment);
  EXPECT_EQ(received->details, line.details);
  EXPECT_EQ(plain_text(*received), plain_text(line));
  EXPECT_TRUE(decoded_progress(encoded(ProgressLine{})));

  EXPECT_FALSE(decoded_progress(""));
  EXPECT_FALSE(decoded_progress("training: 53%"));
  const auto record = [](const char* moment, const char* done) {
    return fmt::format("\x1f{2}\x1f{0}\x1f{1}\x1f{3}\x1f{3}\x1f{3}\x1f{4}", moment, done, "progress", 4, "title");
  };
  EXPECT_TRUE(decoded_progress(record("0", "1")));
  EXPECT_FALSE(decoded_progress(record("9", "1")));  // there is no such moment
  EXPECT_FALSE(decoded_progress(record("0", "-1")));
  EXPECT_FALSE(decoded_progress(record("0", "1").substr(0, 12)));
}

TEST(ProgressLine, APipeHasOneIdentityAtBothEnds) {
  int first[2], second[2];
  ASSERT_EQ(pipe(first), 0);
  ASSERT_EQ(pipe(second), 0);
  EXPECT_NE(pipe_identity(first[0]), "");
  EXPECT_EQ(pipe_identity(first[0]), pipe_identity(first[1]));
  EXPECT_NE(pipe_identity(first[1]), pipe_identity(second[1]));
  for (const int end : {first[0], first[1], second[0], second[1]}) close(end);
  EXPECT_EQ(pipe_identity(-1), "");
}

}  // namespace
}  // namespace hearth
