#include "hearth/tasks/token_classification/labels.h"

#include <algorithm>
#include <set>
#include <string>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

std::vector<std::string> distinct_tags(const TokenTable& table) {
  std::set<std::string> tags;
  for (std::int64_t row = 0; row < table.rows(); ++row) tags.insert(table.tags(row).begin(), table.tags(row).end());
  return {tags.begin(), tags.end()};
}

std::int64_t largest_number(const TokenTable& table) {
  std::int64_t largest = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (const std::int64_t number : table.numbers(row)) largest = std::max(largest, number);
  return largest;
}

std::vector<std::string> default_names(std::int64_t count) {
  constexpr std::int64_t kMostLabels = 100'000;
  check(count <= kMostLabels, "the tags are numbers up to {}, which is too many labels; number them 0, 1, 2, ...",
        count - 1);
  std::vector<std::string> names;
  for (std::int64_t id = 0; id < count; ++id) names.push_back("LABEL_" + std::to_string(id));
  return names;
}

}  // namespace

LabelMap labels_to_learn(const TokenTable& train, const models::Config& config) {
  if (!train.has_numbers()) return in_order_of_model(distinct_tags(train), config);
  const std::int64_t count = largest_number(train) + 1;
  if (config.has_label_names() && count <= config.num_labels()) return LabelMap(config.label_names());
  return LabelMap(default_names(count));
}

std::vector<std::int64_t> labels_inside(const LabelMap& labels) {
  std::vector<std::int64_t> inside;
  for (std::int64_t id = 0; id < labels.size(); ++id) {
    const std::string& name = labels.name(id);
    inside.push_back(name.starts_with("B-") ? labels.find("I-" + name.substr(2)).value_or(id) : id);
  }
  return inside;
}

LabelReader::LabelReader(const TokenTable& table, const LabelMap& labels, bool labels_are_texts)
    : table_(table), labels_(labels) {
  check(!table.has_numbers() || !labels_are_texts,
        "{} has numbers as tags, but the training data has texts; write the tags of both files alike", table.file());
}

std::vector<std::int64_t> LabelReader::ids(std::int64_t row) const {
  std::vector<std::int64_t> ids;
  if (table_.has_numbers()) {
    ids = table_.numbers(row);
    for (const std::int64_t id : ids)
      check(id < labels_.size(), "{}: record {} has the tag {}, but there are {} labels, counted from 0", table_.file(),
            row + 1, id, labels_.size());
  } else {
    for (const std::string& tag : table_.tags(row)) ids.push_back(labels_.id(tag, table_.file(), row + 1));
  }
  return ids;
}

}  // namespace hearth::tasks
