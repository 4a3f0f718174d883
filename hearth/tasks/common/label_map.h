#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/models/config.h"

namespace hearth::tasks {

// The labels of a task: their names, by id.
class LabelMap {
 public:
  LabelMap() = default;
  explicit LabelMap(std::vector<std::string> names) : names_(std::move(names)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(std::int64_t id) const { return names_[static_cast<std::size_t>(id)]; }
  std::optional<std::int64_t> find(std::string_view name) const;
  // The id of a label that a file has in record `record`, counted from 1; another label is an Error.
  std::int64_t id(std::string_view name, std::string_view file, std::int64_t record) const;

 private:
  std::vector<std::string> names_;
};

// As run_glue.py and run_ner.py: if the model's config.json names the same labels, whatever their case and order, its
// order counts, so that a fine-tuned model can be trained further or evaluated. Otherwise the labels as given.
LabelMap in_order_of_model(std::vector<std::string> names, const models::Config& config);

// For messages: the first labels, with commas between them.
std::string shown_labels(const std::vector<std::string>& names);

}  // namespace hearth::tasks
