#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::migrate {

// A word of shell text, text[begin, end).
struct ShellWord {
  std::size_t begin = 0, end = 0;
  std::string value;       // without quotes and backslashes; what the shell would replace stands as it was typed
  bool is_literal = true;  // the shell replaces nothing in it: no $name, $(command) or pattern
};

// A command with its arguments; redirections are left out. Assignments such as A=1 may come first.
struct ShellCommand {
  std::vector<ShellWord> words;
};

// Commands joined by |. Keywords such as `then` stand before it.
struct ShellPipeline {
  std::vector<ShellCommand> commands;
  std::size_t begin = 0, end = 0;  // with its redirections
  std::size_t separator_end = 0;   // of the ; & && || or line end that follows directly; `end` if there is none
  bool follows_keyword = false;    // of if, while, for and the like: the syntax needs a command here
};

// The commands of a text, in its order. An Error names the line of a quote or parenthesis that is not closed.
std::vector<ShellPipeline> parse_shell(std::string_view text);

}  // namespace hearth::migrate
