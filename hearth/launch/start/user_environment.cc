#include "hearth/launch/start/user_environment.h"

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/whole_number.h"
#include "hearth/launch/place/cpu_list.h"

namespace hearth::launch {

std::optional<std::string> text_in_environment(std::string_view variable) {
  const std::string value = environment(variable);
  return value.empty() ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> number_in_environment(std::string_view variable) {
  const std::string text = environment(variable);
  if (text.empty()) return std::nullopt;
  const auto number = whole_number<std::int64_t>(std::string_view(text).substr(0, text.find(',')), 0);
  check(number.has_value(), "the variable {} must be a number, not '{}'", variable, text);
  return number;
}

std::vector<int> communication_affinity() {
  const std::string text = environment("CCL_WORKER_AFFINITY");
  return text.empty() || text == "auto" ? std::vector<int>() : parse_cpu_list(text, "the variable CCL_WORKER_AFFINITY");
}

}  // namespace hearth::launch
