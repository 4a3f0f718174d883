#include "hearth/tasks/token_classification/labels.h"

#include <algorithm>
#include <string>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

std::vector<std::string> default_names(std::int64_t count) {
  constexpr std::int64_t kMostLabels = 100'000;
  check(count <= kMostLabels, "the tags are numbers up to {}, which is too many labels; number them 0, 1, 2, ...",
        count - 1);
  std::vector<std::string> names;
  for (std::int64_t id = 0; id < count; ++id) names.push_back("LABEL_" + std::to_string(id));
  return names;
}

}  // namespace

void TagNames::add(const TokenTable& part) {
  has_numbers_ = part.has_numbers();
  class_names_ = part.class_names();
  for (std::int64_t row = 0; row < part.rows(); ++row) {
    if (has_numbers_)
      for (const std::int64_t number : part.numbers(row)) largest_ = std::max(largest_, number);
    else
      tags_.insert(part.tags(row).begin(), part.tags(row).end());
  }
}

LabelMap TagNames::labels(const models::Config& config) const {
  if (!class_names_.empty()) return in_order_of_model(class_names_, config);
  if (!has_numbers_) return in_order_of_model({tags_.begin(), tags_.end()}, config);
  const std::int64_t count = largest_ + 1;
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
  check(!table.has_numbers() || !labels_are_texts || !table.class_names().empty(),
        "{} has numbers as tags, but the training data has texts; write the tags of both files alike", table.file());
}

std::vector<std::int64_t> LabelReader::ids(std::int64_t row) const {
  const auto id_of = [&](const std::string& name) {
    const data::RecordPlace place = table_.place(row);
    return labels_.id(name, place.file, place.number);
  };
  std::vector<std::int64_t> ids;
  if (!table_.has_numbers()) {
    for (const std::string& tag : table_.tags(row)) ids.push_back(id_of(tag));
    return ids;
  }
  const std::vector<std::string>& names = table_.class_names();
  const std::int64_t count = names.empty() ? labels_.size() : std::ssize(names);
  for (const std::int64_t number : table_.numbers(row)) {
    check(number < count, "{} has the tag {}, but there are {} labels, counted from 0", text_of(table_.place(row)),
          number, count);
    ids.push_back(names.empty() ? number : id_of(names[static_cast<std::size_t>(number)]));
  }
  return ids;
}

}  // namespace hearth::tasks
