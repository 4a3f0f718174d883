#pragma once

#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/terminal_bar.h"
#include "hearth/launch/watch/text_queue.h"

namespace hearth::launch {

enum class Stream { output, errors };

struct OutputOptions {
  bool prefix = true;                            // "[3] " before the lines of rank 3
  std::optional<std::filesystem::path> log_dir;  // folder of the log files, two per rank
  std::string tee = "3";                         // streams shown on the terminal: 0 none, 1 stdout, 2 stderr, 3 both
  bool append = false;                           // keep what the log files hold
};

// Shows the lines of all ranks and writes them to log files. Each line is written whole, once the terminal takes it.
// Colours and the progress bar are for the terminal alone; in log files the bar is a plain line every 15 seconds.
class RankOutput {
 public:
  explicit RankOutput(OutputOptions options);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  void begin(int rank);  // creates the rank's log files, even if it writes nothing
  bool draws_progress(int rank);
  void write(int rank, Stream stream, std::string_view line);
  std::vector<std::string> last_lines(int rank) const;
  TextQueue& terminal() { return terminal_; }

 private:
  struct Rank {
    std::deque<std::string> last;
    std::array<int, 2> files{-1, -1};  // descriptors of the log files, -1: none
    int shown = 3;                     // as in OutputOptions::tee
  };

  Rank& find(int rank);
  static void keep(Rank& rank, Stream stream, const std::string& line);

  OutputOptions options_;
  std::map<int, int> shown_;  // by rank; -1 for all others
  std::map<int, Rank> ranks_;
  TextQueue terminal_;
  TerminalBar bar_{[this](int descriptor, std::string_view text) { terminal_.add(descriptor, text); }};
};

}  // namespace hearth::launch
