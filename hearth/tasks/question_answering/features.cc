#include "hearth/tasks/question_answering/features.h"

#include <cstring>
#include <tuple>
#include <utility>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

template <class Features>
auto arrays_of(Features& f) {
  return std::tie(f.starts, f.ids, f.type_ids, f.examples, f.start_positions, f.end_positions, f.offsets);
}

template <class T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

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
    all.append(part);
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

QaFeatures QaFeatures::from_sections(const std::vector<std::span<const std::byte>>& sections,
                                     const QaFeatureLimits& limits) {
  QaFeatures features;
  auto section = sections.begin();
  const auto read = [&](auto& array) {
    using Item = typename std::remove_reference_t<decltype(array)>::value_type;
    check(section != sections.end() && section->size() % sizeof(Item) == 0, "its sections are not those of features");
    array.resize(section->size() / sizeof(Item));
    if (!array.empty()) std::memcpy(array.data(), section->data(), section->size());
    ++section;
  };
  std::apply([&](auto&... array) { (read(array), ...); }, arrays_of(features));
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
  for (std::size_t f = 0; f < examples.size(); ++f)
    check(examples[f] >= (f == 0 ? 0 : examples[f - 1]) && examples[f] < limits.examples,
          "feature {} belongs to no example", f);
  for (std::size_t f = 0; f < labels; ++f)
    for (const std::int32_t position : {start_positions[f], end_positions[f]})
      check(0 <= position && position < length(static_cast<std::int64_t>(f)),
            "feature {} has an answer outside its tokens", f);
  for (const tokenizer::Offset& offset : offsets)
    check(offset == kNoOffset || (0 <= offset.begin && offset.begin <= offset.end), "a token has impossible offsets");
}

}  // namespace hearth::tasks
