#pragma once

#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::launch {

enum class Stream { output, errors };

struct OutputOptions {
  bool prefix = true;                            // "[3] " before the lines of rank 3
  std::optional<std::filesystem::path> log_dir;  // each rank's lines in files of its own
  std::string tee = "3";                         // what goes to the terminal: torchrun's numbers
  bool append = false;                           // to the files
};

// Where the lines of all ranks go: each is written whole.
class RankOutput {
 public:
  explicit RankOutput(OutputOptions options);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  void begin(int rank);  // its files are there, even if it says nothing
  void write(int rank, Stream stream, std::string_view line);
  std::vector<std::string> last_lines(int rank) const;

 private:
  struct Rank {
    std::deque<std::string> last;
    std::array<int, 2> files{-1, -1};
    int shown = 3;
  };

  Rank& find(int rank);

  OutputOptions options_;
  std::map<int, int> shown_;  // by rank; -1 for all others
  std::map<int, Rank> ranks_;
};

}  // namespace hearth::launch
