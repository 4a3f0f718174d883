#include "hearth/launch/watch/supervisor.h"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <thread>

#include "hearth/base/exit_status.h"
#include "hearth/io/file.h"
#include "hearth/launch/start/pipe.h"
#include "tests/launch/process_state.h"
#include "tests/pseudo_terminal.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

// A thread that takes none of the signals that the supervisor waits for.
std::thread without_signals(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

using namespace std::chrono_literals;

bool is_written(const std::filesystem::path& file) {
  return std::filesystem::exists(file) && !io::read_file(file).empty();
}

// Starts a process with this number, which leads a group and sleeps; -1 where the system does not allow it.
pid_t sleeper_with_pid(pid_t pid) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&pid);
  arguments.set_tid_size = 1;
  const auto child = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (child != 0) return child;
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  while (true) pause();
}

constexpr int kCrashed = 98;

// Runs `body` in a child that may choose the numbers of its processes. Returns its result, kCrashed if a signal ended
// it, or nothing if the system forbids such a child.
std::optional<int> in_own_pid_namespace(const std::function<int()>& body) {
  constexpr int kForbidden = 99;
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(kForbidden);
    const pid_t inner = fork();
    if (inner == 0) _exit(body());
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(inner > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : kCrashed);
  }
  int status = 0;
  waitpid(outer, &status, 0);
  if (!WIFEXITED(status)) return kCrashed;
  return WEXITSTATUS(status) == kForbidden ? std::nullopt : std::optional(WEXITSTATUS(status));
}

class SupervisorTest : public TemporaryFolder {
 protected:
  JobEnd run(const std::vector<std::string>& scripts) {
    SupervisorOptions options;
    options.output.log_dir = folder_ / "logs";
    options.output.tee = "0";
    options.grace = 200ms;
    std::vector<RankStart> starts;
    for (const std::string& script : scripts)
      starts.push_back({static_cast<int>(starts.size()), {{"sh", "-c", script}, {{"DIR", folder_.string()}}, {}}});
    return supervise(starts, options);
  }
  std::string log(int rank, const std::string& stream = "stdout") const {
    return io::read_file(folder_ / "logs" / fmt::format("rank_{}.{}.log", rank, stream));
  }
  pid_t pid_in(const std::string& file) const { return std::stoi(io::read_file(folder_ / file)); }
};

TEST_F(SupervisorTest, AllEndWell) {
  const JobEnd end = run({"echo a; echo b >&2", "printf c"});
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.failed_rank, -1);
  EXPECT_EQ(log(0), "a\n");
  EXPECT_EQ(log(0, "stderr"), "b\n");
  EXPECT_EQ(log(1), "c\n");
}

TEST_F(SupervisorTest, TheFirstFailureEndsAll) {
  const JobEnd end =
      run({"echo $$ > $DIR/pid; sleep 60", "while ! [ -s $DIR/pid ]; do sleep 0.01; done; echo last; exit 3"});
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.failed_rank, 1);
  EXPECT_EQ(end.reason, "ended with status 3");
  EXPECT_EQ(end.last_lines, std::vector<std::string>{"last"});
  EXPECT_FALSE(process_runs(pid_in("pid")));
}

TEST_F(SupervisorTest, ARankThatIsKilled) {
  const JobEnd end = run({"sleep 60", "kill -KILL $$"});
  EXPECT_EQ(end.status, 128 + SIGKILL);
  EXPECT_EQ(end.failed_rank, 1);
  EXPECT_TRUE(contains(end.reason, "signal 9"));
}

TEST_F(SupervisorTest, ARankThatTheKernelKilledForLackOfMemory) {
  SupervisorOptions options;
  std::size_t kills = 3;
  options.oom_kills = [&] { return kills++; };
  const JobEnd end = supervise({{0, {{"sh", "-c", "kill -KILL $$"}, {}, {}}}}, options);
  EXPECT_EQ(end.reason, "was ended by signal 9 (Killed): the kernel ended a process because memory had run out");
  options.oom_kills = [] { return std::size_t{3}; };
  EXPECT_EQ(supervise({{0, {{"sh", "-c", "kill -KILL $$"}, {}, {}}}}, options).reason,
            "was ended by signal 9 (Killed)");
}

TEST_F(SupervisorTest, ARankThatDoesNotEndIsKilledWithItsChildren) {
  const JobEnd end =
      run({"trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > $DIR/child; while true; do sleep 0.05; done' & "
           "while true; do sleep 0.05; done",
           "while ! [ -s $DIR/child ]; do sleep 0.01; done; exit 5"});
  EXPECT_EQ(end.status, 5);
  EXPECT_FALSE(process_runs(pid_in("child")));
}

TEST_F(SupervisorTest, WhatRanksLeaveBehindIsEnded) {
  const JobEnd end = run({"sleep 60 & echo $! > $DIR/child"});
  EXPECT_EQ(end.status, 0);
  EXPECT_FALSE(process_runs(pid_in("child")));
}

TEST_F(SupervisorTest, AProgramThatIsNotThere) {
  SupervisorOptions options;
  const std::string error = error_of([&] { supervise({{0, {{"no-such-program"}, {}, {}}}}, options); });
  EXPECT_TRUE(contains(error, "cannot start 'no-such-program': "));
}

TEST_F(SupervisorTest, LongLinesOfManyRanksStayWhole) {
  std::vector<std::string> scripts;
  for (int rank = 0; rank < 4; ++rank)
    scripts.push_back(
        fmt::format("i=0; while [ $i -lt 200 ]; do printf '{0}{0}{0}'; printf '{0}{0}\\n'; i=$((i+1)); done",
                    std::string(30, static_cast<char>('a' + rank))));
  testing::internal::CaptureStdout();
  std::vector<RankStart> starts;
  for (const std::string& script : scripts)
    starts.push_back({static_cast<int>(starts.size()), {{"sh", "-c", script}, {}, {}}});
  EXPECT_EQ(supervise(starts, {}).status, 0);
  std::istringstream lines(testing::internal::GetCapturedStdout());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const int rank = line[1] - '0';
    EXPECT_EQ(line, fmt::format("[{}] {}", rank, std::string(150, static_cast<char>('a' + rank))));
  }
  EXPECT_EQ(count, 800);
}

// Supervises while this process gets SIGTERM as soon as the file `ready` is written.
JobEnd supervise_and_interrupt(const std::filesystem::path& ready, const std::function<JobEnd()>& supervise_ranks) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);  // in the sender too, or the signal would end this program
  std::thread sender = without_signals([&ready, self = getpid()] {
    while (!is_written(ready)) std::this_thread::sleep_for(5ms);
    kill(self, SIGTERM);
  });
  const JobEnd end = supervise_ranks();
  sender.join();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return end;
}

TEST_F(SupervisorTest, ASignalIsPassedOn) {
  const JobEnd end = supervise_and_interrupt(folder_ / "ready", [this] {
    return run({"trap 'echo got it; exit 7' TERM; echo x > $DIR/ready; while true; do sleep 0.02; done"});
  });
  EXPECT_TRUE(end.interrupted);
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(log(0), "got it\n");
}

TEST_F(SupervisorTest, MpirunThatASignalEndsWithSuccessCountsAsInterrupted) {
  const std::string ready = (folder_ / "ready").string();
  const std::string script = "trap 'exit 0' TERM; echo x > " + ready + "; while true; do sleep 0.02; done";
  SupervisorOptions options;
  options.origin = [](std::string_view line) { return std::pair(-1, line); };
  const JobEnd end = supervise_and_interrupt(ready, [&] {
    return supervise({{-1, {{"sh", "-c", script}, {}, {}}}}, options);
  });
  EXPECT_TRUE(end.interrupted);
  EXPECT_EQ(end.status, kInterruptedStatus);
}

// A pipe in place of stdout. Rank 0 writes into it without end, so it is soon full.
class UnreadOutput : public SupervisorTest {
 protected:
  JobEnd run(const std::vector<std::string>& scripts) const {
    std::vector<RankStart> starts;
    for (const std::string& script : scripts)
      starts.push_back({static_cast<int>(starts.size()), {{"sh", "-c", script}, {{"DIR", folder_.string()}}, {}}});
    const Redirection to(pipe_.writer(), {STDOUT_FILENO});
    return supervise(starts, {});
  }
  bool is_full() const {
    pollfd ready{pipe_.writer(), POLLOUT, 0};
    return poll(&ready, 1, 0) == 0;
  }
  void wait_until_full() const {
    while (!is_full()) std::this_thread::sleep_for(5ms);
  }

  static constexpr const char* kEndless = "echo $$ > $DIR/pid; exec yes";
  const Pipe pipe_;
};

TEST_F(UnreadOutput, DoesNotHideASignal) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  std::thread sender = without_signals([this, self = getpid()] {
    wait_until_full();
    kill(self, SIGTERM);
  });
  const JobEnd end = run({kEndless});
  sender.join();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(end.interrupted);
  EXPECT_EQ(end.status, 128 + SIGTERM);
}

TEST_F(UnreadOutput, DoesNotHideADeadRank) {
  std::thread reader = without_signals([this] {
    wait_until_full();
    std::ofstream(folder_ / "full") << "x";
    while (process_runs(pid_in("pid"))) std::this_thread::sleep_for(5ms);  // although nobody has read anything
    std::array<char, 65536> buffer;
    while (::read(pipe_.reader(), buffer.data(), buffer.size()) > 0 && !is_written(folder_ / "end")) continue;
  });
  const JobEnd end = run({kEndless, "while ! [ -s $DIR/full ]; do sleep 0.01; done; exit 3"});
  std::ofstream(folder_ / "end") << "x" << std::flush;
  EXPECT_EQ(::write(pipe_.writer(), "\n", 1), 1);  // lets the reader see the end
  reader.join();
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.failed_rank, 1);
}

TEST_F(SupervisorTest, TheRankThatAnotherOneNamesIsToBlame) {
  const std::string named =
      "while ! [ -s $DIR/said ]; do sleep 0.01; done; echo 'hearth: error: rank 1: rank 0 failed: no disk' >&2; exit 1";
  const JobEnd waits = run({"echo 'hearth: error: rank 0: no disk' >&2; echo x > $DIR/said; sleep 60", named});
  EXPECT_EQ(waits.failed_rank, 0);
  EXPECT_EQ(waits.status, 1);
  EXPECT_EQ(waits.reason, "failed");
  EXPECT_EQ(waits.last_lines, std::vector<std::string>{"hearth: error: rank 0: no disk"});
  std::filesystem::remove(folder_ / "said");  // or rank 1 would not wait until rank 0 has set its trap
  const JobEnd ends = run({"trap 'exit 2' TERM; echo x > $DIR/said; while true; do sleep 0.01; done", named});
  EXPECT_EQ(ends.failed_rank, 0);
  EXPECT_EQ(ends.status, 2);
}

// Rank 0 ends; another process gets its number and leads a group; then rank 1 fails, which ends the job.
TEST_F(SupervisorTest, AProcessThatGetsTheNumberOfAnEndedRankIsLeftAlone) {
  constexpr int kLives = 0, kWasKilled = 1, kForbidden = 2, kWrongEnd = 3;
  const std::optional<int> outcome = in_own_pid_namespace([&] {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);  // in the thread too, which would take the supervisor's signals otherwise
    pid_t stranger = -1;
    std::thread neighbour([&] {
      while (!is_written(folder_ / "first")) std::this_thread::sleep_for(5ms);
      const pid_t pid = pid_in("first");
      while (kill(pid, 0) == 0) std::this_thread::sleep_for(5ms);
      stranger = sleeper_with_pid(pid);
      while (stranger > 0 && getpgid(stranger) != stranger) std::this_thread::sleep_for(5ms);
      std::ofstream(folder_ / "taken") << "x";
    });
    const JobEnd end = run({"echo $$ > $DIR/first", "while ! [ -s $DIR/taken ]; do sleep 0.01; done; exit 3"});
    neighbour.join();
    if (stranger < 0) return kForbidden;
    if (end.status != 3 || end.failed_rank != 1) return kWrongEnd;
    return waitpid(stranger, nullptr, WNOHANG) == 0 ? kLives : kWasKilled;
  });
  if (!outcome || *outcome == kForbidden) GTEST_SKIP() << "this system does not let tests choose process numbers";
  EXPECT_EQ(*outcome, kLives);
}

TEST_F(SupervisorTest, NothingOutlivesAKilledLauncher) {
  const pid_t launcher = fork();
  if (launcher == 0) {
    run({"sh -c 'echo $$ > $DIR/child; sleep 60' & echo $$ > $DIR/rank; wait"});
    _exit(0);
  }
  while (!is_written(folder_ / "child") || !is_written(folder_ / "rank")) std::this_thread::sleep_for(5ms);
  kill(launcher, SIGKILL);
  waitpid(launcher, nullptr, 0);
  for (int i = 0; i < 1000 && (process_runs(pid_in("child")) || process_runs(pid_in("rank"))); ++i)
    std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(process_runs(pid_in("child")));
  EXPECT_FALSE(process_runs(pid_in("rank")));
}

TEST_F(SupervisorTest, TeeChoosesWhatIsShown) {
  const auto shown = [&](const std::string& tee) {
    SupervisorOptions options;
    options.output.tee = tee;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    supervise({{0, {{"sh", "-c", "echo o; echo e >&2"}, {}, {}}}, {1, {{"sh", "-c", "echo p"}, {}, {}}}}, options);
    const std::string out = testing::internal::GetCapturedStdout();
    return out + testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(shown("2"), "[0] e\n");
  EXPECT_EQ(shown("0:1"), "[0] o\n");
  EXPECT_EQ(shown("0:2,1:3"), "[1] p\n[0] e\n");
  for (const char* tee : {"4", "x", "0:9", "0:3,1", ""})
    EXPECT_TRUE(contains(error_of([&] { RankOutput({true, {}, tee, false}); }), "--tee")) << tee;
}

}  // namespace
}  // namespace hearth::launch
