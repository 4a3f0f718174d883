#pragma once

#include <string>
#include <string_view>

// Text by the columns that it takes on a terminal. Text is UTF-8: a combining mark takes no column, a CJK character
// two.
namespace hearth {

std::size_t columns_of(std::string_view text);

// `text` as a terminal may safely show it, on one line. Control characters, characters that reorder text, and bytes
// that are not UTF-8 are escaped: "\x1b", "\u202e", "\xff". Text that is printable already stays as it is.
std::string printable(std::string_view text);

// The same for text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

// `text`, cut to at most `columns` columns; "..." at its end says that something was cut off.
std::string shortened(std::string_view text, std::size_t columns);

// `text` broken at spaces into lines of at most `columns` columns; its own line breaks stay. The first line begins at
// column `indent`, where the caller stands; the others begin with as many spaces. A word is never broken, even if it is
// longer than a line.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace hearth
