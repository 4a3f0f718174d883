#pragma once

#include <string>
#include <vector>

namespace hearth::apps {

// The first row holds the headings; all rows have the same number of cells. No rows: an empty text.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace hearth::apps
