#include "hearth/launch/watch/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::launch {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::vector<std::string>& pieces) {
  Lines lines;
  LineSplitter splitter;
  const auto take = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& piece : pieces) splitter.feed(piece, take);
  splitter.finish(take);
  return lines;
}

TEST(LineSplitter, PiecesBecomeLines) {
  EXPECT_EQ(split({"a", "b\nc", "\n\nd"}), (Lines{"ab", "c", "", "d"}));
  EXPECT_EQ(split({"a\r\nb\r", "\nc"}), (Lines{"a", "b", "c"}));
}

TEST(LineSplitter, ProgressBarsBecomeLines) {
  EXPECT_EQ(split({"\r 10%\r", " 20%\r 30%\n"}), (Lines{" 10%", " 20%", " 30%"}));
}

TEST(LineSplitter, ALineWithoutEndIsCut) {
  const Lines lines = split(std::vector<std::string>(40, std::string(65536, 'x')));
  EXPECT_GT(lines.size(), 1u);
}

}  // namespace
}  // namespace hearth::launch
