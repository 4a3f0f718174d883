#include "hearth/data/record_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hearth::data {

std::string text_of(const RecordPlace& place) { return fmt::format("{}: record {}", place.file, place.number); }

void RecordPlaces::add(const std::string& file, std::int64_t number) {
  const auto continues = [&](const Run& last) {
    return last.first.number + static_cast<std::int64_t>(rows_ - last.row) == number && last.first.file == file;
  };
  if (runs_.empty() || !continues(runs_.back())) runs_.push_back({rows_, {file, number}});
  ++rows_;
}

RecordPlace RecordPlaces::of(std::size_t row) const {
  const Run& run = *std::prev(std::ranges::upper_bound(runs_, row, {}, &Run::row));
  return {run.first.file, run.first.number + static_cast<std::int64_t>(row - run.row)};
}

}  // namespace hearth::data
