#include "hearth/apps/input_lines.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>

#include "hearth/apps/line_editor.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"

namespace hearth::apps {

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

void for_each_input_line(const LinePrompt& prompt, const std::function<void(const std::string&)>& use) {
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
  while (const auto line = next()) {
    if (editor && is_blank(*line)) continue;
    try {
      use(*line);
    } catch (const Error& error) {
      log_warning("{}", error.what());
    }
  }
  if (editor) fmt::print(stderr, "\n");
}

}  // namespace hearth::apps
