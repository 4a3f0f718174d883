#include "hearth/base/progress.h"

#include <gtest/gtest.h>

#include <regex>
#include <thread>

#include "hearth/base/terminal.h"
#include "tests/pseudo_terminal.h"
#include "tests/setting.h"
#include "tests/support.h"

namespace hearth {
namespace {

using namespace std::chrono_literals;

TEST(ProgressSink, TakesProgressAndTheLinesThatItWants) {
  std::vector<std::string> taken;
  Progress::set_sink({.progress = [&](const ProgressLine& line) { taken.push_back(plain_text(line)); },
                      .line =
                          [&](int, std::string_view line) {
                            taken.emplace_back(line);
                            return line != "not mine";
                          }});
  testing::internal::CaptureStderr();
  {
    Progress progress("training", 10, false);
    progress.update(10, {"loss 0.5"});
    Progress::print_line(STDERR_FILENO, "mine");
    Progress::print_line(STDERR_FILENO, "not mine");
  }
  Progress::set_sink({});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "not mine\n");
  ASSERT_EQ(taken.size(), 3);
  EXPECT_EQ(taken[0], "mine");
  EXPECT_NE(taken[2].find("loss 0.5"), std::string::npos);
}

class ProgressTest : public testing::Test {
 protected:
  // The stderr of a job of ten steps.
  static std::string shown(const std::string& launcher, int to, const std::function<std::string()>& text) {
    const Setting pipe(std::string(kProgressPipeVariable), launcher);
    const Redirection errors(to, {STDERR_FILENO});
    {
      Progress progress("training", 10, false);
      std::this_thread::sleep_for(110ms);
      progress.update(5, {"loss 1.5"});
      Progress::print_line(STDERR_FILENO, "a line");
      progress.update(10, {"loss 0.5"});
    }
    return std::regex_replace(text(), std::regex("\\d\\d:\\d\\d"), "00:00");  // however long it took
  }

  const Setting kind_{"TERM", "xterm"};
};

TEST_F(ProgressTest, IsABarOnATerminal) {
  PseudoTerminal terminal(120);
  const std::string text = shown("", terminal.descriptor(), [&] { return terminal.text(); });
  const std::string bar =
      "\r\x1b[Jtraining |############------------|  50% 5/10 [00:00 elapsed, 00:00 left] loss 1.5\r";
  EXPECT_TRUE(text.starts_with(bar + "\r\x1b[Ja line\r\n" + bar)) << text;
  EXPECT_TRUE(
      text.ends_with("\r\x1b[Jtraining |########################| 100% 10/10 [00:00 elapsed, 00:00 left] loss 0.5\r\n"))
      << text;
}

class PipedProgressTest : public ProgressTest {
 protected:
  PipedProgressTest() { check(::pipe(ends_) == 0, "no pipe"); }
  ~PipedProgressTest() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  std::string shown_in_pipe(const std::string& launcher) {
    return shown(launcher, ends_[1], [&] {
      char part[4096];
      const ssize_t count = ::read(ends_[0], part, sizeof part);
      return std::string(part, static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    });
  }
  int ends_[2];
};

TEST_F(PipedProgressTest, SurvivesAFullDisk) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_EQ(::write(full, "x", 1), -1);
  shown("", full, [] { return ""; });
  ::close(full);
  EXPECT_TRUE(contains(shown_in_pipe(""), "100% 10/10"));  // stderr works again
}

TEST_F(PipedProgressTest, IsAPlainLineElsewhere) {
  const std::string end = "a line\ntraining: 100% 10/10 [00:00 elapsed, 00:00 left] loss 0.5\n";
  EXPECT_EQ(shown_in_pipe(""), end);
  EXPECT_EQ(shown_in_pipe("1:2"), end);  // another pipe is the launcher's
}

TEST_F(PipedProgressTest, GoesToALauncherThatDrawsIt) {
  std::istringstream text(shown_in_pipe(pipe_identity(ends_[1])));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[1], "a line");
  const auto passing = decoded_progress(lines.front()), end = decoded_progress(lines.back());
  ASSERT_TRUE(passing && end);
  EXPECT_EQ(passing->moment, ProgressLine::Moment::passing);
  EXPECT_EQ(passing->done, 5);
  EXPECT_EQ(end->moment, ProgressLine::Moment::end);
  EXPECT_EQ(end->done, 10);
  EXPECT_EQ(end->details, std::vector<std::string>{"loss 0.5"});
}

}  // namespace
}  // namespace hearth
