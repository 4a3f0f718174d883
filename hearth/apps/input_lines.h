#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hearth::apps {

// How lines are asked for on a terminal.
struct LinePrompt {
  std::string hint;     // printed once: "Type a question and press Enter; Ctrl-D ends."
  std::string prompt;   // "question> "
  std::string history;  // name of the history's file: "ask_history"
};

// Calls `use` for each line of standard input, as it comes. On a terminal, lines can be edited, and blank ones are left
// out. An Error of a line, or a line that is not UTF-8, is a warning on a terminal; elsewhere it is an Error that names
// the number of the line.
void for_each_input_line(const LinePrompt& prompt, const std::function<void(const std::string&)>& use);

bool is_blank(const std::string& text);
// An Error unless the text is UTF-8; `name` stands for it in the message: "--query".
void check_utf8(const std::string& text, std::string_view name);

}  // namespace hearth::apps
