#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::launch {

// The settings that were chosen and why, for the table that `hearth launch` prints.
class Decisions {
 public:
  struct Row {
    std::string name, value, reason;
  };

  template <class T>
  struct Source {
    std::optional<T> value;
    std::string reason;
  };

  // The first source that has a value.
  template <class T>
  std::optional<T> choose(std::string name, std::initializer_list<Source<T>> sources) {
    for (const Source<T>& source : sources) {
      if (!source.value) continue;
      note(std::move(name), fmt::format("{}", *source.value), source.reason);
      return source.value;
    }
    return std::nullopt;
  }

  void note(std::string name, std::string value, std::string reason) {
    rows_.push_back({std::move(name), std::move(value), std::move(reason)});
  }

  // Replaces value and reason of the last row.
  void replace_last(std::string value, std::string reason) {
    rows_.back().value = std::move(value);
    rows_.back().reason = std::move(reason);
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

}  // namespace hearth::launch
