#include "hearth/tasks/common/name_list.h"

#include <algorithm>

namespace hearth::tasks {

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace hearth::tasks
