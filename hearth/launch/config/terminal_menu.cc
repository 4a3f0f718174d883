#include "hearth/launch/config/terminal_menu.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "hearth/base/check.h"

namespace hearth::launch {
namespace {

constexpr std::string_view kHideCursor = "\x1b[?25l", kShowCursor = "\x1b[?25h", kClearLine = "\r\x1b[K";
constexpr char kEscape = '\x1b', kEndOfInput = '\x04', kBackspace = '\b', kDelete = '\x7f';
constexpr std::size_t kLongestName = 30;  // so that the typed text fits its line

// While it lives, keys are read one by one and are not echoed. A signal that ends the program still does, after the
// terminal's settings are restored.
class SingleKeys {
 public:
  SingleKeys(int input, int output) {
    input_ = input;
    output_ = output;
    tcgetattr(input_, &before_);
    termios changed = before_;
    changed.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    struct sigaction action {};
    action.sa_handler = restore_and_raise;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &actions_before_[i]);
    tcsetattr(input_, TCSADRAIN, &changed);
    show(kHideCursor);
  }
  ~SingleKeys() {
    restore();
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_before_[i], nullptr);
  }
  SingleKeys(const SingleKeys&) = delete;
  SingleKeys& operator=(const SingleKeys&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

  static void show(std::string_view sequence) {
    [[maybe_unused]] const auto written = write(output_, sequence.data(), sequence.size());
  }
  static void restore() {
    tcsetattr(input_, TCSADRAIN, &before_);
    show(kShowCursor);
  }
  static void restore_and_raise(int signal) {  // calls async-signal-safe functions only
    restore();
    show("\n");
    std::signal(signal, SIG_DFL);
    raise(signal);
  }

  static inline int input_ = -1, output_ = -1;
  static inline termios before_{};
  std::array<struct sigaction, kSignals.size()> actions_before_{};
};

bool begins_with(std::string_view name, std::string_view typed) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return typed.size() <= name.size() && std::equal(typed.begin(), typed.end(), name.begin(), same);
}

std::optional<std::size_t> find_choice(std::span<const std::string> choices, std::string_view typed) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
  if (error == std::errc() && end == typed.data() + typed.size() && number < choices.size()) return number;
  const auto found = std::ranges::find_if(choices, [&](const std::string& name) { return begins_with(name, typed); });
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == text.npos ? "" : std::string(text.substr(first, last - first + 1));
}

std::string refusal(std::string_view typed, std::string_view explanation) {
  return fmt::format("'{}' is none of the choices. {}\n", typed, explanation);
}

// Whether more bytes follow the Escape: an arrow key, not the Escape key.
bool is_sequence(int input) {
  pollfd more{input, POLLIN, 0};
  return poll(&more, 1, 50) == 1;
}

winsize size_of(int terminal) {
  winsize size{};
  const bool known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  if (!known) size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  return size;
}

}  // namespace

Terminal::Terminal(int input, int output)
    : input_(input),
      output_(output),
      is_terminal_(isatty(input) != 0 && isatty(output) != 0),
      echoes_(isatty(input) == 0) {}

void Terminal::print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(output_, text.data(), text.size());
    check(written >= 0 || errno == EINTR, "the questions cannot be written to stdout: {}", std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

// Reads one byte at a time, because the bytes after it may belong to the next question, in another terminal mode.
std::optional<char> Terminal::read_byte() {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(input_, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1 ? std::optional(byte) : std::nullopt;
}

std::optional<std::string> Terminal::read_line() {
  std::string line;
  auto byte = read_byte();
  const bool ended = !byte;
  for (; byte && *byte != '\n'; byte = read_byte()) line += *byte;
  if (echoes_ || ended) print(line + "\n");
  if (ended) return std::nullopt;
  return trimmed(line);
}

std::optional<std::string> Terminal::ask(std::string_view question) {
  print(question);
  return read_line();
}

std::optional<std::size_t> Terminal::choose(std::string_view question, std::span<const std::string> choices,
                                            std::size_t marked, std::string_view explanation) {
  const bool draws = is_terminal_ && choices.size() + 3 <= size_of(output_).ws_row;
  return draws ? choose_by_keys(question, choices, marked, explanation)
               : choose_from_lines(question, choices, marked, explanation);
}

std::optional<std::size_t> Terminal::choose_from_lines(std::string_view question, std::span<const std::string> choices,
                                                       std::size_t marked, std::string_view explanation) {
  print(fmt::format("{}\n", question));
  for (std::size_t i = 0; i < choices.size(); ++i) print(fmt::format("  {}: {}\n", i, choices[i]));
  while (true) {
    const auto typed = ask(fmt::format("a number or a name [{}]: ", choices[marked]));
    if (!typed) return std::nullopt;
    if (typed->empty()) return marked;
    if (const auto choice = find_choice(choices, *typed)) return choice;
    print(refusal(*typed, explanation));
  }
}

std::optional<std::size_t> Terminal::choose_by_keys(std::string_view question, std::span<const std::string> choices,
                                                    std::size_t marked, std::string_view explanation) {
  print(fmt::format("{}\n{}\n", std::string(size_of(output_).ws_col, '-'), question));
  const SingleKeys keys(input_, output_);
  std::string typed;
  const auto draw = [&] {
    for (std::size_t i = 0; i < choices.size(); ++i)
      print(fmt::format("{} {} {}\n", kClearLine, i == marked ? "➔ " : "  ", choices[i]));
    print(fmt::format("{}(arrow keys, a number or a name; then Enter) {}", kClearLine, typed));
  };
  const auto erase = [&] {
    print(kClearLine);
    for (std::size_t i = 0; i < choices.size(); ++i) print("\x1b[A\x1b[K");
  };
  const auto move_to = [&](std::size_t choice) {
    marked = choice;
    typed.clear();
  };
  for (draw();; erase(), draw()) {
    const auto key = read_byte();
    if (!key || (*key == kEndOfInput && typed.empty())) {
      erase();
      return std::nullopt;
    }
    if (*key == kEscape) {
      if (!is_sequence(input_)) continue;
      read_byte();  // [ or O; then the arrow's letter
      const auto arrow = read_byte();
      if (arrow == 'A' && marked > 0) move_to(marked - 1);
      if (arrow == 'B' && marked + 1 < choices.size()) move_to(marked + 1);
    } else if (*key == '\n' || *key == '\r') {
      if (typed.empty() || find_choice(choices, trimmed(typed))) {
        erase();
        print(fmt::format("{}\n", choices[marked]));
        return marked;
      }
      erase();
      print(refusal(typed, explanation));
      typed.clear();
      draw();
    } else {
      if (*key == kBackspace || *key == kDelete) {
        if (!typed.empty()) typed.pop_back();
      } else if (std::isprint(static_cast<unsigned char>(*key)) != 0 && typed.size() < kLongestName) {
        typed += *key;
      }
      if (const auto choice = find_choice(choices, trimmed(typed)); choice && !typed.empty()) marked = *choice;
    }
  }
}

}  // namespace hearth::launch
