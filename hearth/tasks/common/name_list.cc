#include "hearth/tasks/common/name_list.h"

#include "hearth/base/split.h"

namespace hearth::tasks {

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names = split(list, ',');
  std::erase(names, "");
  return names;
}

}  // namespace hearth::tasks
