#include "hearth/tasks/token_classification/samples.h"

#include <fmt/format.h>

#include "hearth/tasks/common/samples.h"

namespace hearth::tasks {
namespace {

struct Tag {
  std::string_view type;  // "PER" of "B-PER"; empty: of no entity
  bool begins = false;
};

Tag parsed(std::string_view tag) {
  if (tag == "O") return {};
  const bool has_place = tag.size() > 2 && tag[1] == '-';
  return {has_place ? tag.substr(2) : tag, has_place && tag[0] == 'B'};
}

// "Ada Lovelace (PER), London (LOC)"
std::string entities_of(const TokenFeatures& features, std::int64_t row, const std::vector<std::string>& tags,
                        const tokenizer::Tokenizer& tokenizer) {
  const auto ids = features.ids_of(row), labels = features.labels_of(row);
  std::string text;
  Tag open;
  std::vector<std::int32_t> entity;
  const auto close = [&] {
    if (!entity.empty())
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", tokenizer.decode(entity, true), open.type);
    entity.clear();
  };
  std::size_t next = 0;
  for (std::size_t token = 0; token < ids.size(); ++token) {
    if (labels[token] != kNoLabel) {
      const Tag tag = parsed(tags[next++]);
      if (tag.begins || tag.type != open.type) close();
      open = tag;
    }
    if (!open.type.empty()) entity.push_back(ids[token]);
  }
  close();
  return text;
}

}  // namespace

std::vector<SamplePrediction> tag_samples(const TokenFeatures& features,
                                          const std::vector<std::vector<std::string>>& expected,
                                          const std::vector<std::vector<std::string>>& predicted,
                                          const tokenizer::Tokenizer& tokenizer) {
  const auto right = [&](std::int64_t row) {
    return expected[static_cast<std::size_t>(row)] == predicted[static_cast<std::size_t>(row)];
  };
  std::vector<SamplePrediction> samples;
  for (const std::int64_t row : sample_items(features.rows(), kSamples, right)) {
    const auto entities = [&](const std::vector<std::vector<std::string>>& tags) {
      return entities_of(features, row, tags[static_cast<std::size_t>(row)], tokenizer);
    };
    samples.push_back({text_of_row(features, row, tokenizer), "", entities(expected), entities(predicted), right(row)});
  }
  return samples;
}

}  // namespace hearth::tasks
