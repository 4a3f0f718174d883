#include "hearth/launch/watch/rank_output.h"

#include "hearth/io/file.h"
#include "tests/pseudo_terminal.h"
#include "tests/setting.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

using Moment = ProgressLine::Moment;

class RankOutputTest : public TemporaryFolder {
 protected:
  static void send(RankOutput& output, std::int64_t done, Moment moment) {
    output.write(0, Stream::errors, encoded({"training", done, 10, 1, 2, {"loss 1.5"}, moment}));
  }
  std::string log(const std::string& name) const { return io::read_file(folder_ / name); }

  PseudoTerminal terminal_{50};
  const Setting kind_{"TERM", "xterm"}, colours_{"NO_COLOR", ""};
};

TEST_F(RankOutputTest, OneBarBelowTheLinesOfAllRanks) {
  const Redirection to(terminal_.descriptor(), {STDOUT_FILENO, STDERR_FILENO});
  {
    RankOutput output({true, folder_, "3", false});
    EXPECT_TRUE(output.draws_progress(0));
    output.begin(1);
    send(output, 5, Moment::passing);
    output.write(1, Stream::errors, "warning: slow");
    output.write(0, Stream::output, "row");
    send(output, 6, Moment::report);
    send(output, 10, Moment::end);
  }
  const std::string erase = "\r\x1b[J";
  const auto bar = [&](const std::string& numbers) {
    return erase + "training " + numbers + " [00:01 elapsed, 00:02 left]";
  };
  EXPECT_EQ(terminal_.text(), bar(" 50% 5/10") + "\r" + erase + "[1] \x1b[33mwarning:\x1b[0m slow\r\n" +
                                  bar(" 50% 5/10") + "\r" + erase + "[0] row\r\n" + bar(" 50% 5/10") + "\r" +
                                  bar(" 60% 6/10") + "\r" + bar("100% 10/10") + "\r\n");
  EXPECT_EQ(log("rank_0.stderr.log"),
            "training:  60% 6/10 [00:01 elapsed, 00:02 left] loss 1.5\n"
            "training: 100% 10/10 [00:01 elapsed, 00:02 left] loss 1.5\n");
  EXPECT_EQ(log("rank_0.stdout.log"), "row\n");
  EXPECT_EQ(log("rank_1.stderr.log"), "warning: slow\n");
}

TEST_F(RankOutputTest, ABarThatWasNotFinishedIsLeftOnItsLine) {
  const Redirection to(terminal_.descriptor(), {STDERR_FILENO});
  {
    RankOutput output({true, {}, "3", false});
    send(output, 5, Moment::passing);
  }
  EXPECT_TRUE(terminal_.text().ends_with("left]\r\r\n"));
}

TEST_F(RankOutputTest, TheBarNeedsATerminalThatShowsTheRank) {
  EXPECT_FALSE(RankOutput({true, {}, "3", false}).draws_progress(0) && isatty(STDERR_FILENO) == 0);
  const Redirection to(terminal_.descriptor(), {STDERR_FILENO});
  EXPECT_TRUE(RankOutput({true, {}, "2", false}).draws_progress(0));
  EXPECT_FALSE(RankOutput({true, {}, "1", false}).draws_progress(0));
  EXPECT_FALSE(RankOutput({true, {}, "1:3", false}).draws_progress(0));
  const Setting dumb("TERM", "dumb");
  EXPECT_FALSE(RankOutput({true, {}, "3", false}).draws_progress(0));
}

}  // namespace
}  // namespace hearth::launch
