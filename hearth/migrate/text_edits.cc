#include "hearth/migrate/text_edits.h"

#include <algorithm>

namespace hearth::migrate {

std::string TextEdits::applied_to(std::string_view text) const {
  std::vector<Edit> ordered = edits_;
  std::ranges::stable_sort(ordered, {}, &Edit::begin);
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : ordered) {
    result += text.substr(done, edit.begin - done);
    result += edit.text;
    done = edit.end;
  }
  return result + std::string(text.substr(done));
}

}  // namespace hearth::migrate
