#include "hearth/base/terminal.h"

#include <gtest/gtest.h>

#include "hearth/base/terminal_bar.h"
#include "tests/pseudo_terminal.h"
#include "tests/setting.h"

namespace hearth {
namespace {

TEST(Terminal, TellsItsWidth) {
  PseudoTerminal terminal(50);
  const Setting columns("COLUMNS", "70");
  EXPECT_EQ(terminal_columns(terminal.descriptor()), 50u);
  terminal.resize(200);
  EXPECT_EQ(terminal_columns(terminal.descriptor()), 200u);
  terminal.resize(0);  // some terminals do not know
  EXPECT_EQ(terminal_columns(terminal.descriptor()), 70u);
  EXPECT_EQ(terminal_columns(-1), 70u);
  for (const char* nonsense : {"", "0", "-5", "wide"}) {
    const Setting wrong("COLUMNS", nonsense);
    EXPECT_EQ(terminal_columns(-1), 80u) << nonsense;
  }
}

TEST(Terminal, HelpIsAsWideAsTheTerminal) {
  PseudoTerminal terminal(50);
  const auto columns = [&] {
    const Redirection to(terminal.descriptor(), {STDOUT_FILENO});
    return help_columns();
  };
  EXPECT_EQ(columns(), 50u);
  terminal.resize(200);
  EXPECT_EQ(columns(), 120u);
}

TEST(Terminal, ColoursAreForTerminals) {
  PseudoTerminal terminal(80);
  const Setting kind("TERM", "xterm"), colours("NO_COLOR", "");
  const auto shown = [&](std::string_view line) { return highlighted(line, terminal.descriptor()); };
  EXPECT_EQ(shown("warning: slow"), "\x1b[33mwarning:\x1b[0m slow");
  EXPECT_EQ(shown("error: gone"), "\x1b[31merror:\x1b[0m gone");
  EXPECT_EQ(shown("hearth: error: gone"), "hearth: \x1b[31merror:\x1b[0m gone");
  EXPECT_EQ(shown("a warning: slow"), "a warning: slow");
  EXPECT_EQ(highlighted("warning: slow", -1), "warning: slow");
  {
    const Setting without("NO_COLOR", "1");
    EXPECT_EQ(shown("warning: slow"), "warning: slow");
  }
  const Setting dumb("TERM", "dumb");
  EXPECT_EQ(shown("warning: slow"), "warning: slow");
  EXPECT_FALSE(can_redraw(terminal.descriptor()));
}

TEST(TerminalBar, LinesScrollByAboveIt) {
  PseudoTerminal terminal(20);
  const Redirection to(terminal.descriptor(), {STDOUT_FILENO, STDERR_FILENO});
  TerminalBar bar;
  bar.print(STDOUT_FILENO, "before");
  EXPECT_EQ(terminal.text(), "before\r\n");
  bar.draw({"training", 5, 10, 0, 0, {}, {}});
  const std::string drawn = "\r\x1b[J50% 5/10\r", before = "before\r\n" + drawn;
  EXPECT_EQ(terminal.text(), before);
  bar.print(STDERR_FILENO, "above");
  EXPECT_EQ(terminal.text(), before + "\r\x1b[Jabove\r\n" + drawn);
}

TEST(TerminalBar, StaysAtTheEnd) {
  PseudoTerminal terminal(6);
  const Redirection to(terminal.descriptor(), {STDERR_FILENO});
  TerminalBar bar;
  bar.leave();
  bar.draw({"training", 5, 10, 0, 0, {}, {}});
  terminal.resize(20);
  bar.draw({"training", 10, 10, 0, 0, {}, ProgressLine::Moment::end});
  bar.leave();
  EXPECT_EQ(terminal.text(), "\r\x1b[J50%\r\r\x1b[J100% 10/10\r\n");
  bar.draw({"training", 5, 10, 0, 0, {}, {}});
  bar.leave();
  bar.leave();
  EXPECT_TRUE(terminal.text().ends_with("\r\x1b[J50% 5/10\r\r\n"));
}

}  // namespace
}  // namespace hearth
