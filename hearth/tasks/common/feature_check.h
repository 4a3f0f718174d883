#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "hearth/io/sha256.h"
#include "hearth/tasks/task.h"

namespace hearth::tasks {

// Checks features while they are made: that the tokens fit the model, and at the end that all processes made the same.
class FeatureCheck {
 public:
  FeatureCheck(std::string file, const TaskSetting& setting) : file_(std::move(file)), setting_(setting) {}

  // `arrays` are those of the part, rows included.
  template <class... Arrays>
  void add(const TokenRows& part, const std::tuple<Arrays...>& arrays) {
    check_vocabulary(part, setting_, file_);
    rows_ += part.rows();
    if (setting_.team.size() > 1)
      std::apply([&](const auto&... array) { (hash_.update(std::as_bytes(array.view())), ...); }, arrays);
  }
  void finish() const;

 private:
  std::string file_;
  const TaskSetting& setting_;
  std::int64_t rows_ = 0;
  io::Sha256 hash_;
};

}  // namespace hearth::tasks
