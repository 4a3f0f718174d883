#include "hearth/launch/start/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/launch/start/pipe.h"

namespace hearth::launch {
namespace {

// Default handling of signals, as a shell would start a program. SIGHUP stays as it is, for nohup.
void reset_signals() {
  for (const int signal : {SIGXFSZ, SIGPIPE, SIGINT, SIGTERM, SIGQUIT}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Returns only if it fails, with errno set.
void execute(const ProcessStart& start) {
  if (start.placement) cpu::bind_process(start.placement->processors(), start.placement->nodes);
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : start.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
}

[[noreturn]] void fail_to_start(const std::string& program, const std::string& why) {
  fail(
      "cannot start '{}': {}; the target must be one of Hearth's commands (hearth --help), a script x.py, or a program",
      program, why);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = read(descriptor, buffer.data(), buffer.size())) != 0;) {
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  return text;
}

[[noreturn]] void run_child(const ProcessStart& start, pid_t launcher, int output, int errors, int report,
                            const std::function<void()>& before) {
  setpgid(0, 0);
  end_with_parent();
  if (getppid() != launcher) _exit(EXIT_FAILURE);  // the launcher died before end_with_parent()
  if (before) before();
  reset_signals();
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  std::string why;
  try {
    execute(start);
    why = std::strerror(errno);
  } catch (const Error& error) {
    why = error.what();
  }
  [[maybe_unused]] const ssize_t written = write(report, why.data(), why.size());
  _exit(127);
}

}  // namespace

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void become(const ProcessStart& start) {
  reset_signals();
  execute(start);
  fail_to_start(start.words.front(), std::strerror(errno));
}

pid_t start_process(const ProcessStart& start, int output, int errors, const std::function<void()>& before) {
  Pipe report;  // carries the reason of a failure; a successful exec closes it
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  check(pid >= 0, "no process can be started: {}", std::strerror(errno));
  if (pid == 0) run_child(start, launcher, output, errors, report.writer(), before);
  setpgid(pid, pid);
  report.close_writer();
  const std::string why = read_all(report.reader());
  if (why.empty()) return pid;
  waitpid(pid, nullptr, 0);
  fail_to_start(start.words.front(), why);
}

std::optional<std::string> output_of(const std::vector<std::string>& words) {
  Pipe output;
  pid_t pid = 0;
  try {
    pid = start_process({words, {}, {}}, output.writer(), output.writer());
  } catch (const Error&) {
    return std::nullopt;
  }
  output.close_writer();
  std::string text = read_all(output.reader());
  waitpid(pid, nullptr, 0);
  return text;
}

}  // namespace hearth::launch
