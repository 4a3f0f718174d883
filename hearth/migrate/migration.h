#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Commands and scripts for PyTorch, IPEX, the Trainer and Accelerate, turned into commands of Hearth.
namespace hearth::migrate {

struct Remark {
  std::size_t line = 1;  // of the old text
  std::string text;
};

struct Migration {
  std::string text;             // the new command or shell script; may be empty
  std::vector<Remark> remarks;  // in the order of the lines
  bool complete = true;         // false: a part that had an effect has no counterpart; a remark names it
};

// Shell text: a command line, or a script. Its layout, its comments and the commands that Hearth does not replace stay
// as they are. A text without any command that Hearth replaces is an Error.
Migration migrate_shell(std::string_view text);

// A Python script, or a part of one: the command that does the same. `name` is the script's own name. A script without
// anything that Hearth replaces is an Error.
Migration migrate_python(std::string_view text, const std::string& name);

// The number of the line that holds text[place].
std::size_t line_of(std::string_view text, std::size_t place);

}  // namespace hearth::migrate
