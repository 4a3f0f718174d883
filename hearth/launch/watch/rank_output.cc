#include "hearth/launch/watch/rank_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/base/progress_line.h"
#include "hearth/base/terminal.h"
#include "hearth/base/whole_number.h"
#include "hearth/io/file.h"

namespace hearth::launch {
namespace {

constexpr std::size_t kLastLines = 20;

int number_in(std::string_view word, std::string_view tee) {
  const std::optional<int> number = whole_number<int>(word, 0);
  check(number.has_value(), "--tee {}: give 0, 1, 2 or 3, or one of them per rank, as in 0:3,1:2", tee);
  return *number;
}

int streams_in(std::string_view word, std::string_view tee) {
  const int number = number_in(word, tee);
  check(number <= 3, "--tee {}: 0 shows nothing, 1 stdout, 2 stderr, 3 both", tee);
  return number;
}

std::map<int, int> parse_tee(std::string_view tee) {
  if (tee.find(':') == tee.npos) return {{-1, streams_in(tee, tee)}};
  std::map<int, int> shown{{-1, 0}};
  for (std::string_view rest = tee; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t colon = part.find(':');
    check(colon != part.npos, "--tee {}: '{}' names no rank; write RANK:NUMBER, as in 0:3,1:2", tee, part);
    shown[number_in(part.substr(0, colon), tee)] = streams_in(part.substr(colon + 1), tee);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return shown;
}

bool shows(int shown, Stream stream) { return (shown & (1 << static_cast<int>(stream))) != 0; }

int open_log(const std::filesystem::path& path, bool append) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (append ? 0 : O_TRUNC), 0644);
  check(descriptor >= 0, "{} cannot be written: {}", path.string(), std::strerror(errno));
  return descriptor;
}

}  // namespace

RankOutput::RankOutput(OutputOptions options) : options_(std::move(options)), shown_(parse_tee(options_.tee)) {
  if (options_.log_dir) io::create_directories(*options_.log_dir);
}

RankOutput::~RankOutput() {
  bar_.leave();
  for (const auto& [number, rank] : ranks_)
    for (const int file : rank.files)
      if (file >= 0) close(file);
}

void RankOutput::begin(int rank) { find(rank); }

RankOutput::Rank& RankOutput::find(int number) {
  const auto [found, is_new] = ranks_.try_emplace(number);
  Rank& rank = found->second;
  if (!is_new) return rank;
  const auto chosen = shown_.find(number);
  rank.shown = (chosen == shown_.end() ? shown_.find(-1) : chosen)->second;
  if (options_.log_dir && number >= 0)
    for (const int stream : {0, 1})
      rank.files[static_cast<std::size_t>(stream)] =
          open_log(*options_.log_dir / fmt::format("rank_{}.{}.log", number, stream == 0 ? "stdout" : "stderr"),
                   options_.append);
  return rank;
}

bool RankOutput::draws_progress(int number) {
  return can_redraw(STDERR_FILENO) && shows(find(number).shown, Stream::errors);
}

void RankOutput::keep(Rank& rank, Stream stream, const std::string& line) {
  if (const int file = rank.files[static_cast<std::size_t>(stream)]; file >= 0) write_text(file, line + "\n");
  rank.last.push_back(line);
  if (rank.last.size() > kLastLines) rank.last.pop_front();
}

void RankOutput::write(int number, Stream stream, std::string_view line) {
  Rank& rank = find(number);
  if (auto progress = decoded_progress(line)) {
    if (progress->moment != ProgressLine::Moment::passing) keep(rank, stream, plain_text(*progress));
    const bool is_behind = progress->moment == ProgressLine::Moment::passing && terminal_.waits_for() >= 0;
    if (!is_behind) bar_.draw(std::move(*progress));
    return;
  }
  keep(rank, stream, std::string(line));
  if (!shows(rank.shown, stream)) return;
  const int descriptor = stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO;
  const std::string prefix = options_.prefix && number >= 0 ? fmt::format("[{}] ", number) : "";
  bar_.print(descriptor, prefix + highlighted(line, descriptor));
}

std::vector<std::string> RankOutput::last_lines(int number) const {
  const auto found = ranks_.find(number);
  return found == ranks_.end() ? std::vector<std::string>()
                               : std::vector<std::string>(found->second.last.begin(), found->second.last.end());
}

}  // namespace hearth::launch
