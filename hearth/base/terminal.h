#pragma once

#include <string>
#include <string_view>

// The terminal that a file descriptor leads to.
namespace hearth {

// The terminal's width now; COLUMNS where the descriptor is no terminal or does not know its width; 80 otherwise.
std::size_t terminal_columns(int descriptor);

// Columns for help texts: as many as the terminal has, at most 120; 120, or COLUMNS, where stdout is no terminal.
std::size_t help_columns();

// Whether the descriptor is a terminal that can erase a line: all but those that call themselves "dumb".
bool can_redraw(int descriptor);

// `line` as the descriptor should show it: on terminals a leading "warning:" is yellow and a leading "error:" or
// "hearth: error:" is red, unless NO_COLOR is set.
std::string highlighted(std::string_view line, int descriptor);

// Whether a short text can be written now or within a second: nobody may be reading.
bool takes_text(int descriptor);

// Writes all of `text`. Failures are ignored: a full disk or a closed terminal must not end a training run.
void write_text(int descriptor, std::string_view text);

}  // namespace hearth
