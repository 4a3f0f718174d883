#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/apps/program.h"

namespace hearth {
namespace {

// The program on a terminal of its own.
class Session {
 public:
  Session(const fs::path& folder, const std::vector<std::string>& arguments) {
    process_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (process_ != 0) return;
    std::signal(SIGINT, SIG_DFL);  // shells start background jobs of scripts with SIGINT ignored
    setenv("TERM", "xterm", 1);
    setenv("XDG_STATE_HOME", (folder / "state").c_str(), 1);
    std::vector<char*> words{const_cast<char*>("hearth")};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    if (chdir(folder.c_str()) == 0) execv(kProgram, words.data());
    _exit(127);
  }
  ~Session() { close(terminal_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Types once the program reads single keys. libedit shows its prompt shortly before that, and until then the kernel
  // edits the line itself: it would turn Ctrl-D into an end of file that libedit never sees.
  void type(std::string_view keys) const {
    for (int tries = 0; reads_lines() && tries < 6000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_FALSE(reads_lines());
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), std::ssize(keys));
  }

  // The screen output up to and including `text`.
  std::string until(std::string_view text) const {
    std::string shown;
    while (shown.find(text) == shown.npos && read_byte(shown)) continue;
    EXPECT_TRUE(contains(shown, text));
    return shown;
  }
  // The screen output up to its end.
  std::string rest() const {
    std::string shown;
    while (read_byte(shown)) continue;
    return shown;
  }

  // The exit status. A program that does not end is killed.
  int status() const {
    int status = 0;
    for (int tenths = 0; waitpid(process_, &status, WNOHANG) == 0; ++tenths) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (tenths != 600) continue;
      ADD_FAILURE() << "hearth did not end";
      kill(process_, SIGKILL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }

 private:
  bool reads_lines() const {
    termios settings{};
    return tcgetattr(terminal_, &settings) == 0 && (settings.c_lflag & ICANON) != 0;
  }

  bool read_byte(std::string& shown) const {
    pollfd waiting{terminal_, POLLIN, 0};
    char byte = 0;
    if (poll(&waiting, 1, 60000) != 1 || ::read(terminal_, &byte, 1) != 1) return false;
    shown += byte;
    return true;
  }

  int terminal_ = -1;
  pid_t process_ = -1;
};

using AskOnATerminal = ProgramTest;

TEST_F(AskOnATerminal, LinesAreEditedAndRecalled) {
  ASSERT_EQ(run_qa("--do_train --max_steps 1 --save_strategy no --output_dir out").status, 0);
  const std::vector<std::string> ask{"ask",   "--model", "out", "--context_text", "Elif the baker lives in Bergen.",
                                     "--json"};
  {
    Session session(folder(), ask);
    session.until("question> ");
    session.type("\n");  // skipped
    session.until("question> ");
    session.type("Where does Eliff\x7f live?\n");
    EXPECT_TRUE(contains(session.until("n_best"), R"({"question": "Where does Elif live?")"));
    session.until("question> ");
    session.type("\x1b[A\n");  // the arrow up
    EXPECT_TRUE(contains(session.until("n_best"), R"({"question": "Where does Elif live?")"));
    session.until("question> ");
    session.type("\x04");  // Ctrl-D
    EXPECT_EQ(session.status(), 0);
  }
  const fs::path history = folder() / "state/hearth/ask_history";
  EXPECT_TRUE(fs::exists(history));
  EXPECT_EQ(fs::status(history).permissions() & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write);
  Session again(folder(), ask);
  again.until("question> ");
  again.type("\x1b[A\n");
  EXPECT_TRUE(contains(again.until("n_best"), R"({"question": "Where does Elif live?")"));
  again.until("question> ");
  again.type("Wo ist \u00c9lif?\n");
  EXPECT_TRUE(contains(again.until("n_best"), R"({"question": "Wo ist \u00c9lif?")"));
  again.until("question> ");
  again.type("\x03");  // Ctrl-C
  EXPECT_NE(again.status(), 0);
}

TEST_F(AskOnATerminal, ALineThatFailsIsAWarning) {
  Session session(folder(), {"ask", "--model", start_model().string(), "--context_text", "Elif lives in Bergen.",
                             "--max_seq_length", "16", "--json"});
  session.until("question> ");
  session.type("Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif Elif\n");
  session.until("the question has 16 tokens");
  session.until("question> ");
  session.type("Who?\n");
  EXPECT_TRUE(contains(session.until("n_best"), R"({"question": "Who?")"));
  session.until("question> ");
  session.type("\x04");  // Ctrl-D
  EXPECT_EQ(session.status(), 0);
}

TEST_F(AskOnATerminal, AnswersAreNotObeyed) {
  write("context.txt", "a \x1b]0;owned\a b");
  Session session(folder(), {"ask", "--model", start_model().string(), "--context", "context.txt", "--n_best", "1000",
                             "--question", "Who?"});
  const std::string shown = session.rest();
  EXPECT_TRUE(contains(shown, R"(\x1b]0;owned\x07 b  ()")) << shown;
  EXPECT_EQ(shown.find_first_of("\x1b\a"), shown.npos) << shown;
  EXPECT_EQ(session.status(), 0);
}

}  // namespace
}  // namespace hearth
