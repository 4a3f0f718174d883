#include "hearth/launch/watch/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>

#include "hearth/base/check.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/progress_line.h"
#include "hearth/comm/failure_sentence.h"
#include "hearth/launch/start/pipe.h"
#include "hearth/launch/watch/line_splitter.h"
#include "hearth/launch/watch/orphan_guard.h"
#include "hearth/launch/watch/signals.h"

namespace hearth::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kMpirun = -1;               // RankStart::rank
constexpr milliseconds kTick{20};         // between looks at process groups, whose end no descriptor tells
constexpr milliseconds kDrain{1000};      // for pipes that a process outside the job keeps open
constexpr milliseconds kAfterKill{2000};  // for processes that the kernel cannot kill at once

struct Source {
  int rank = 0;
  Stream stream = Stream::output;
  int descriptor = -1;
  LineSplitter lines;
};

struct Rank {
  int number = 0;
  pid_t pid = 0;  // of the process, and of the process group that it leads
  bool reaped = false;
};

bool group_lives(const Rank& rank) { return kill(-rank.pid, 0) == 0 || errno == EPERM; }

class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options) : options_(options), output_(options.output) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the ranks become children of the launcher
  }
  ~Supervisor() {
    signal_groups(SIGKILL);
    for (const Rank& rank : ranks_)
      if (!rank.reaped) waitpid(rank.pid, nullptr, 0);
    for (const Source& source : sources_)
      if (source.descriptor >= 0) close(source.descriptor);
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void start(const RankStart& start) {
    Pipe output, errors;
    ProcessStart process = start.start;
    if (start.rank >= 0 && output_.draws_progress(start.rank))
      process.environment.emplace_back(kProgressPipeVariable, pipe_identity(errors.writer()));
    // The rank reports itself to the guard, so that the guard knows of it before it starts other processes.
    const pid_t pid = start_process(process, output.writer(), errors.writer(), [&] { guard_.watch_this_process(); });
    ranks_.push_back({start.rank, pid, false});
    if (start.rank >= 0) output_.begin(start.rank);
    read_later(start.rank, Stream::output, output.take_reader());
    read_later(start.rank, Stream::errors, errors.take_reader());
  }

  JobEnd run() {
    while (!is_over()) {
      wait_for_events(timeout());
      handle_signals();
      if (deadline_ && Clock::now() >= *deadline_) signal_groups(SIGKILL);
    }
    drain();
    ranks_.clear();
    blame_named_rank();
    // MPICH's mpirun reports success where the signal ends its helpers before they have heard of their ranks' end.
    if (end_.interrupted && end_.status == 0 && statuses_.contains(kMpirun)) end_.status = kInterruptedStatus;
    if (end_.failed_rank >= 0) end_.last_lines = output_.last_lines(end_.failed_rank);
    return std::move(end_);
  }

 private:
  void read_later(int rank, Stream stream, int descriptor) {
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    sources_.push_back({rank, stream, descriptor, {}});
  }

  bool all_reaped() const { return std::ranges::all_of(ranks_, &Rank::reaped); }

  // Whether all ranks have ended, and the processes that they left behind too.
  bool is_over() {
    if (!all_reaped()) return false;
    drop_ended_groups();
    if (ranks_.empty()) return true;
    if (!deadline_) end_all(SIGTERM, options_.grace);
    return Clock::now() > *deadline_ + kAfterKill;
  }

  int timeout() const {
    if (all_reaped()) return static_cast<int>(kTick.count());
    if (!deadline_) return -1;
    const auto left = std::chrono::ceil<milliseconds>(*deadline_ - Clock::now());
    return static_cast<int>(std::max(left, kTick).count());
  }

  // Negative descriptors are skipped. While nobody reads what the ranks have written, they may not write more; but
  // ranks that are ending must not wait for it.
  void wait_for_events(int timeout) {
    const bool reads = !output_.terminal().is_full() || deadline_;
    std::vector<pollfd> polled{{signals_.descriptor(), POLLIN, 0}, {output_.terminal().waits_for(), POLLOUT, 0}};
    for (const Source& source : sources_) polled.push_back({reads ? source.descriptor : -1, POLLIN, 0});
    if (poll(polled.data(), polled.size(), timeout) <= 0) return;
    output_.terminal().write_what_fits();
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (polled[i + 2].revents != 0) read_from(sources_[i]);
  }

  void read_from(Source& source) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(source.descriptor, buffer.data(), buffer.size());
    const auto take = [&](std::string_view line) { show(source, line); };
    if (count > 0) {
      source.lines.feed({buffer.data(), static_cast<std::size_t>(count)}, take);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      source.lines.finish(take);
      close(source.descriptor);
      source.descriptor = -1;
    }
  }

  void show(const Source& source, std::string_view line) {
    if (source.rank >= 0 || options_.origin == nullptr) {
      output_.write(source.rank, source.stream, line);
    } else {
      const auto [rank, text] = options_.origin(line);
      output_.write(rank, source.stream, text);
    }
  }

  void handle_signals() {
    for (int signal = signals_.next(); signal != 0; signal = signals_.next()) {
      if (signal == SIGCHLD) {
        reap();
      } else if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT) {
        signal_groups(signal);
      } else if (end_.interrupted) {
        signal_groups(SIGKILL);
      } else {
        end_.interrupted = true;
        end_all(signal, options_.interrupt_grace);
      }
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto rank = std::ranges::find(ranks_, pid, &Rank::pid);
      if (rank == ranks_.end()) continue;
      rank->reaped = true;
      statuses_[rank->number] = status;
      if (status != 0 && end_.status == 0) note_failure(*rank, status);
    }
    drop_ended_groups();
  }

  // The kernel may give the number of a group that is gone to another process, which must never get our signals.
  void drop_ended_groups() {
    std::erase_if(ranks_, [&](const Rank& rank) {
      if (!rank.reaped || group_lives(rank)) return false;
      guard_.forget(rank.pid);
      return true;
    });
  }

  void note_failure(const Rank& rank, int status) {
    blame(rank.number, status);
    if (!end_.interrupted) end_all(SIGTERM, options_.grace);
  }

  void blame(int rank, int status) {
    const bool killed = WIFSIGNALED(status);
    end_.status = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    end_.failed_rank = rank;
    end_.reason = killed ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                         : fmt::format("ended with status {}", end_.status);
    if (killed && WTERMSIG(status) == SIGKILL && options_.oom_kills() > oom_kills_before_)
      end_.reason += ": the kernel ended a process because memory had run out";
  }

  // A rank of Hearth that ends because another one failed says so. It may end first, and then this launcher has ended
  // the other one.
  void blame_named_rank() {
    const std::string beginning = fmt::format("hearth: error: rank {}: ", end_.failed_rank);
    for (const std::string& line : output_.last_lines(end_.failed_rank)) {
      if (!line.starts_with(beginning)) continue;
      const auto named = comm::failed_rank(std::string_view(line).substr(beginning.size()));
      if (!named || !statuses_.contains(*named)) return;  // a rank of another host
      if (WIFEXITED(statuses_[*named])) return blame(*named, statuses_[*named]);
      end_.failed_rank = *named;
      end_.reason = "failed";
      return;
    }
  }

  void end_all(int signal, milliseconds grace) {
    signal_groups(signal);
    deadline_ = Clock::now() + grace;
  }

  void signal_groups(int signal) {
    for (const Rank& rank : ranks_) kill(-rank.pid, signal);
  }

  // Shows what the ranks wrote last. A reader that is slow is waited for, unless a signal ends the job.
  void drain() {
    auto limit = Clock::now() + kDrain;
    const auto is_open = [](const Source& source) { return source.descriptor >= 0; };
    const auto pause = [&] {
      wait_for_events(static_cast<int>(kTick.count()));
      handle_signals();
    };
    while (std::ranges::any_of(sources_, is_open) && Clock::now() < limit) {
      pause();
      if (output_.terminal().is_full() && !end_.interrupted) limit = Clock::now() + kDrain;
    }
    for (Source& source : sources_)
      if (is_open(source)) source.lines.finish([&](std::string_view line) { show(source, line); });
    while (output_.terminal().waits_for() >= 0 && !(end_.interrupted && Clock::now() >= limit)) pause();
  }

  const SupervisorOptions& options_;
  Signals signals_;
  OrphanGuard guard_;
  RankOutput output_;
  std::vector<Source> sources_;
  std::vector<Rank> ranks_;
  std::map<int, int> statuses_;  // of the ranks that have ended, as waitpid() reports them
  std::optional<Clock::time_point> deadline_;
  JobEnd end_;
  const std::size_t oom_kills_before_ = options_.oom_kills();
};

}  // namespace

JobEnd supervise(const std::vector<RankStart>& starts, const SupervisorOptions& options) {
  Supervisor supervisor(options);
  for (const RankStart& start : starts) supervisor.start(start);
  return supervisor.run();
}

}  // namespace hearth::launch
