#include "hearth/tasks/common/label_map.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

constexpr std::size_t kShown = 20;  // labels in a message

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> sorted_lower(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(lower(name));
  std::ranges::sort(result);
  return result;
}

}  // namespace

std::optional<std::int64_t> LabelMap::find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? std::nullopt : std::optional<std::int64_t>(found - names_.begin());
}

std::int64_t LabelMap::id(std::string_view name, std::string_view file, std::int64_t record) const {
  const std::optional<std::int64_t> id = find(name);
  if (id) return *id;
  fail(
      "{}: record {} has the label '{}', which is none of the labels to learn: {}; correct the record, or add the "
      "label to the training data",
      file, record, name, shown_labels(names_));
}

LabelMap in_order_of_model(std::vector<std::string> names, const models::Config& config) {
  if (!config.has_label_names()) return LabelMap(std::move(names));
  const std::vector<std::string> of_model = config.label_names();
  if (sorted_lower(of_model) != sorted_lower(names)) return LabelMap(std::move(names));
  std::vector<std::string> ordered;
  for (const std::string& name : of_model)
    ordered.push_back(*std::ranges::find(names, lower(name), [](const std::string& own) { return lower(own); }));
  return LabelMap(std::move(ordered));
}

std::string shown_labels(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(kShown, names.size());
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < names.size() ? ", ..." : "");
}

}  // namespace hearth::tasks
