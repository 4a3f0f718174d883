#include "hearth/apps/input_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>

#include "hearth/apps/line_editor.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/utf8.h"

namespace hearth::apps {
namespace {

using Use = std::function<void(const std::string&)>;

void use_text(const std::string& line, const Use& use) {
  check_utf8(line, "the line");
  use(line);
}

// Whoever typed the line can type another one.
void use_or_warn(const std::string& line, const Use& use) {
  try {
    use_text(line, use);
  } catch (const Error& error) {
    log_warning("{}", error.what());
  }
}

void use_or_name_line(const std::string& line, std::int64_t number, const Use& use) {
  try {
    use_text(line, use);
  } catch (const ResourceError&) {
    throw;  // no fault of the line
  } catch (const Error& error) {
    fail("line {} of standard input: {}", number, error.what());
  }
}

}  // namespace

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

void check_utf8(const std::string& text, std::string_view name) {
  check(io::is_utf8(text), "{} is not UTF-8 text; convert it first", name);
}

void for_each_input_line(const LinePrompt& prompt, const Use& use) {
  std::optional<LineEditor> editor;
  if (on_terminal()) {
    fmt::print(stderr, "{}\n", prompt.hint);
    editor.emplace(prompt.prompt, state_file(prompt.history));
  }
  const auto next = [&]() -> std::optional<std::string> {
    if (editor) return editor->read();
    std::string line;
    return std::getline(std::cin, line) ? std::optional(line) : std::nullopt;
  };
  const bool is_typed = isatty(STDIN_FILENO) != 0;
  std::int64_t number = 0;
  while (const auto line = next()) {
    ++number;
    if (editor && is_blank(*line)) continue;
    if (is_typed) {
      use_or_warn(*line, use);
    } else {
      use_or_name_line(*line, number, use);
    }
  }
  if (editor) fmt::print(stderr, "\n");
}

}  // namespace hearth::apps
