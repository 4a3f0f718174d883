#include "hearth/tasks/question_answering/features.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

constexpr std::size_t kItemsPerCheck = 1 << 22;

// Calls `check_item` for each item. Pages of a mapped file do not stay in memory.
template <class T, class CheckItem>
void check_each(const data::Array<T>& array, CheckItem check_item) {
  for (std::size_t begin = 0; begin < array.size(); begin += kItemsPerCheck) {
    const std::size_t count = std::min(kItemsPerCheck, array.size() - begin);
    for (std::size_t i = begin; i < begin + count; ++i) check_item(i, array[i]);
    array.release(begin, count);
  }
}

}  // namespace

void QaFeatures::append(const QaFeatures& part) {
  TokenRows::append(part);
  examples.append(part.examples);
  start_positions.append(part.start_positions);
  end_positions.append(part.end_positions);
  offsets.append(part.offsets);
}

void QaFeatures::keep_first(std::int64_t count) {
  if (count >= size()) return;
  const auto features = static_cast<std::size_t>(count);
  starts.shrink(features + 1);
  const auto kept_tokens = static_cast<std::size_t>(tokens());
  ids.shrink(kept_tokens);
  type_ids.shrink(kept_tokens);
  if (!offsets.empty()) offsets.shrink(kept_tokens);
  examples.shrink(features);
  if (has_labels()) {
    start_positions.shrink(features);
    end_positions.shrink(features);
  }
}

std::vector<data::Section> QaFeatures::sections() const {
  const auto section = [](const auto& array) { return data::Section{std::as_bytes(array.view()), array.is_mapped()}; };
  return std::apply([&](const auto&... array) { return std::vector{section(array)...}; }, arrays());
}

QaFeatures QaFeatures::from_cache(const data::Cached& cached, const QaFeatureLimits& limits) {
  QaFeatures features;
  auto section = cached.sections.begin();
  const auto view = [&](auto& array) {
    using Item = typename std::remove_reference_t<decltype(array)>::value_type;
    check(section != cached.sections.end() && section->size() % sizeof(Item) == 0,
          "its sections are not those of features");
    array = {{reinterpret_cast<const Item*>(section->data()), section->size() / sizeof(Item)}, cached.file};
    ++section;
  };
  std::apply([&](auto&... array) { (view(array), ...); }, features.arrays());
  features.check_whole(limits);
  return features;
}

void QaFeatures::check_whole(const QaFeatureLimits& limits) const {
  TokenRows::check_whole(limits.vocab_size, limits.max_seq_length);
  const bool is_train = limits.kind == QaFeatureKind::train;
  const std::size_t labels = is_train ? examples.size() : 0;
  check(size() == rows() && start_positions.size() == labels && end_positions.size() == labels &&
            offsets.size() == (is_train ? 0 : ids.size()),
        "the numbers of features, labels and offsets do not agree");
  check_each(examples, [&, last = std::int32_t{0}](std::size_t feature, std::int32_t example) mutable {
    check(example >= last && (limits.examples < 0 || example < limits.examples), "feature {} belongs to no example",
          feature);
    last = example;
  });
  const auto check_position = [&](std::size_t feature, std::int32_t position) {
    check(0 <= position && position < length(static_cast<std::int64_t>(feature)),
          "feature {} has an answer outside its tokens", feature);
  };
  check_each(start_positions, check_position);
  check_each(end_positions, check_position);
  check_each(offsets, [](std::size_t, const tokenizer::Offset& offset) {
    check(offset == kNoOffset || (0 <= offset.begin && offset.begin <= offset.end), "a token has impossible offsets");
  });
}

}  // namespace hearth::tasks
