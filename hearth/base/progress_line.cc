#include "hearth/base/progress_line.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>

#include "hearth/base/text_layout.h"
#include "hearth/base/whole_number.h"

namespace hearth {
namespace {

constexpr std::size_t kShortestBar = 10, kLongestBar = 24;
constexpr char kSeparator = '\x1f';
constexpr std::string_view kMark = "\x1fprogress\x1f";

// The share of the total that is done, in `parts`, rounded down: 100% only at the end.
std::int64_t in_parts(const ProgressLine& line, std::int64_t parts) {
  const double share = static_cast<double>(line.done) / static_cast<double>(line.total);
  return static_cast<std::int64_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(parts));
}

std::string clock_text(std::int64_t seconds) {
  return seconds >= 3600 ? fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
                         : fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
}

std::string percent_text(const ProgressLine& line) { return fmt::format("{}%", in_parts(line, 100)); }
std::string count_text(const ProgressLine& line) {
  return line.has_total() ? fmt::format("{}/{}", line.done, line.total) : fmt::format("{}", line.done);
}
std::string left_text(const ProgressLine& line) { return clock_text(line.seconds_left) + " left"; }

std::string numbers(const ProgressLine& line) {
  if (!line.has_total()) return fmt::format("{} [{} elapsed]", count_text(line), clock_text(line.seconds));
  return fmt::format("{:>4} {} [{} elapsed, {}]", percent_text(line), count_text(line), clock_text(line.seconds),
                     left_text(line));
}

std::string bar_text(const ProgressLine& line, std::size_t columns) {
  const auto filled = static_cast<std::size_t>(in_parts(line, static_cast<std::int64_t>(columns)));
  return fmt::format("|{}{}|", std::string(filled, '#'), std::string(columns - filled, '-'));
}

// As many details as fit into `columns`, in order, with the space before each.
std::string fitting_details(const ProgressLine& line, std::size_t columns) {
  std::string text;
  for (const std::string& detail : line.details) {
    const std::string longer = fmt::format("{}{} {}", text, text.empty() ? "" : ",", detail);
    if (columns_of(longer) > columns) break;
    text = longer;
  }
  return text;
}

std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t end = text.find(kSeparator);
    fields.emplace_back(text.substr(0, end));
    if (end == text.npos) return fields;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string fitted(const ProgressLine& line, std::size_t columns) {
  const std::size_t room = columns > 0 ? columns - 1 : 0;
  const std::string title = shortened(line.title, room / 3);
  const std::string tail = numbers(line);

  if (!line.has_total()) {
    const std::string text = fmt::format("{} {}", title, tail);
    if (columns_of(text) <= room) return text + fitting_details(line, room - columns_of(text));
    return count_text(line).substr(0, room);
  }
  const std::size_t without_bar = columns_of(title) + 1 + 2 + 1 + tail.size();  // space, the bar's two ends, space
  if (without_bar + kShortestBar <= room) {
    const std::string details = fitting_details(line, room - without_bar - kShortestBar);
    const std::size_t bar = std::min(kLongestBar, room - without_bar - columns_of(details));
    return fmt::format("{} {} {}{}", title, bar_text(line, bar), tail, details);
  }
  const std::string percent = percent_text(line), count = count_text(line), left = left_text(line);
  for (const std::string& text :
       {fmt::format("{} {}", title, tail), fmt::format("{} {} {}, {}", title, percent, count, left),
        fmt::format("{} {}, {}", percent, count, left), fmt::format("{} {}", percent, count), percent})
    if (columns_of(text) <= room) return text;
  return percent.substr(0, room);
}

std::string plain_text(const ProgressLine& line) {
  return fmt::format("{}: {}{}{}", line.title, numbers(line), line.details.empty() ? "" : " ",
                     fmt::join(line.details, ", "));
}

std::string encoded(const ProgressLine& line) {
  std::string text =
      fmt::format("{1}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}", kSeparator, kMark, static_cast<int>(line.moment), line.done,
                  line.total, line.seconds, line.seconds_left, line.title);
  for (const std::string& detail : line.details) text += kSeparator + detail;
  return text;
}

std::optional<ProgressLine> decoded_progress(std::string_view text) {
  constexpr std::size_t kNumbers = 5;
  if (!text.starts_with(kMark)) return std::nullopt;
  std::vector<std::string> fields = fields_of(text.substr(kMark.size()));
  if (fields.size() <= kNumbers) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const auto value = whole_number<std::int64_t>(fields[i], 0);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (values[0] > static_cast<std::int64_t>(ProgressLine::Moment::end)) return std::nullopt;
  ProgressLine line{fields[kNumbers], values[1], values[2], values[3], values[4], {}, {}};
  line.moment = static_cast<ProgressLine::Moment>(values[0]);
  line.details.assign(fields.begin() + kNumbers + 1, fields.end());
  return line;
}

std::string pipe_identity(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || !S_ISFIFO(facts.st_mode)) return "";
  return fmt::format("{}:{}", facts.st_dev, facts.st_ino);
}

}  // namespace hearth
