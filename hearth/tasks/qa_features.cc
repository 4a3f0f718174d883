#include "hearth/tasks/qa_features.h"

#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "hearth/base/error.h"

namespace hearth::tasks {
namespace {

template <class Features>
auto arrays_of(Features& f) {
  return std::tie(f.starts, f.ids, f.type_ids, f.examples, f.start_positions, f.end_positions, f.offsets);
}

template <class T>
std::span<const T> tokens_of(const QaFeatures& features, const std::vector<T>& array, std::int64_t feature) {
  const std::int64_t begin = features.starts[static_cast<std::size_t>(feature)];
  return std::span(array).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(features.length(feature)));
}

template <class T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::int64_t QaFeatures::length(std::int64_t feature) const {
  const auto f = static_cast<std::size_t>(feature);
  return starts[f + 1] - starts[f];
}

std::vector<std::int64_t> QaFeatures::lengths() const {
  std::vector<std::int64_t> result(starts.size());
  std::adjacent_difference(starts.begin(), starts.end(), result.begin());
  result.erase(result.begin());
  return result;
}

std::span<const std::int32_t> QaFeatures::ids_of(std::int64_t feature) const { return tokens_of(*this, ids, feature); }

std::span<const std::uint8_t> QaFeatures::type_ids_of(std::int64_t feature) const {
  return tokens_of(*this, type_ids, feature);
}

std::span<const tokenizer::Offset> QaFeatures::offsets_of(std::int64_t feature) const {
  return tokens_of(*this, offsets, feature);
}

QaFeatures QaFeatures::joined(std::vector<QaFeatures> parts) {
  QaFeatures all;
  std::size_t features = 0, tokens = 0;
  for (const QaFeatures& part : parts) {
    features += part.examples.size();
    tokens += part.ids.size();
  }
  all.starts.reserve(features + 1);
  all.ids.reserve(tokens);
  all.type_ids.reserve(tokens);
  for (QaFeatures& moved : parts) {
    const QaFeatures part = std::exchange(moved, {});  // memory goes back as the whole grows
    const std::int64_t before = all.tokens();
    for (std::size_t f = 1; f < part.starts.size(); ++f) all.starts.push_back(before + part.starts[f]);
    append_all(all.ids, part.ids);
    append_all(all.type_ids, part.type_ids);
    append_all(all.examples, part.examples);
    append_all(all.start_positions, part.start_positions);
    append_all(all.end_positions, part.end_positions);
    append_all(all.offsets, part.offsets);
  }
  return all;
}

void QaFeatures::keep_first(std::int64_t count) {
  if (count >= size()) return;
  const auto features = static_cast<std::size_t>(count);
  starts.resize(features + 1);
  const auto kept_tokens = static_cast<std::size_t>(tokens());
  ids.resize(kept_tokens);
  type_ids.resize(kept_tokens);
  if (!offsets.empty()) offsets.resize(kept_tokens);
  examples.resize(features);
  if (has_labels()) {
    start_positions.resize(features);
    end_positions.resize(features);
  }
}

std::vector<std::span<const std::byte>> QaFeatures::sections() const {
  return std::apply([](const auto&... array) { return std::vector{std::as_bytes(std::span(array))...}; },
                    arrays_of(*this));
}

QaFeatures QaFeatures::from_sections(const std::vector<std::span<const std::byte>>& sections) {
  QaFeatures features;
  auto section = sections.begin();
  const auto read = [&](auto& array) {
    using Item = typename std::remove_reference_t<decltype(array)>::value_type;
    check(section != sections.end() && section->size() % sizeof(Item) == 0, "[QaFeatures] unknown sections");
    array.resize(section->size() / sizeof(Item));
    if (!array.empty()) std::memcpy(array.data(), section->data(), section->size());
    ++section;
  };
  std::apply([&](auto&... array) { (read(array), ...); }, arrays_of(features));
  return features;
}

}  // namespace hearth::tasks
