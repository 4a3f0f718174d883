#include "hearth/tasks/token_classification/aggregation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::tasks {
namespace {

using tokenizer::Tokenizer;
using Tokens = std::span<const ScoredToken>;

constexpr std::array<std::pair<std::string_view, Aggregation>, 5> kNames{{{"none", Aggregation::none},
                                                                          {"simple", Aggregation::simple},
                                                                          {"first", Aggregation::first},
                                                                          {"average", Aggregation::average},
                                                                          {"max", Aggregation::max}}};
constexpr std::string_view kOutside = "O";

float largest(const std::vector<float>& probabilities) { return std::ranges::max(probabilities); }

std::vector<float> mean_of(Tokens tokens) {
  std::vector<float> mean(tokens.front().probabilities.size(), 0.0f);
  for (const ScoredToken& token : tokens)
    for (std::size_t label = 0; label < mean.size(); ++label) mean[label] += token.probabilities[label];
  for (float& value : mean) value /= static_cast<float>(tokens.size());
  return mean;
}

std::vector<float> probabilities_of(Tokens word, Aggregation aggregation) {
  if (aggregation == Aggregation::average) return mean_of(word);
  if (aggregation != Aggregation::max) return word.front().probabilities;
  return std::ranges::max_element(word, {}, [](const auto& token) { return largest(token.probabilities); })
      ->probabilities;
}

// Several tokens as one, with the label that `aggregation` chooses.
Entity labelled(Tokens tokens, Aggregation aggregation, std::span<const std::string> labels,
                const Tokenizer& tokenizer) {
  const std::vector<float> probabilities = probabilities_of(tokens, aggregation);
  const auto best = std::ranges::max_element(probabilities);
  std::vector<std::string> words;
  for (const ScoredToken& token : tokens) words.push_back(token.word);
  return {labels[static_cast<std::size_t>(best - probabilities.begin())],
          *best,
          words.size() == 1 ? words.front() : tokenizer.joined(words),
          {tokens.front().place.begin, tokens.back().place.end},
          tokens.front().index};
}

// Tokens, or words where the aggregation is by words.
std::vector<Entity> labelled_parts(Tokens tokens, Aggregation aggregation, std::span<const std::string> labels,
                                   const Tokenizer& tokenizer) {
  const bool by_words = aggregation != Aggregation::none && aggregation != Aggregation::simple;
  std::vector<Entity> parts;
  for (std::size_t begin = 0, end = 0; begin < tokens.size(); begin = end) {
    end = begin + 1;
    while (by_words && end < tokens.size() && tokens[end].continues_word) ++end;
    parts.push_back(labelled(tokens.subspan(begin, end - begin), aggregation, labels, tokenizer));
  }
  return parts;
}

bool begins_entity(std::string_view label) { return label.starts_with("B-"); }

std::string_view type_of(std::string_view label) {
  return label.starts_with("B-") || label.starts_with("I-") ? label.substr(2) : label;
}

Entity grouped(std::span<const Entity> parts, const Tokenizer& tokenizer) {
  float sum = 0;
  std::vector<std::string> words;
  for (const Entity& part : parts) {
    sum += part.score;
    words.push_back(part.word);
  }
  const std::string& label = parts.front().label;
  const std::size_t dash = label.find('-');
  return {dash == label.npos ? label : label.substr(dash + 1),
          sum / static_cast<float>(parts.size()),
          tokenizer.joined(words),
          {parts.front().place.begin, parts.back().place.end},
          parts.front().index};
}

std::vector<Entity> grouped_by_type(std::span<const Entity> parts, const Tokenizer& tokenizer) {
  std::vector<Entity> groups;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    end = begin + 1;
    while (end < parts.size() && !begins_entity(parts[end].label) &&
           type_of(parts[end].label) == type_of(parts[begin].label))
      ++end;
    groups.push_back(grouped(parts.subspan(begin, end - begin), tokenizer));
  }
  return groups;
}

}  // namespace

std::vector<std::string> aggregation_names() {
  std::vector<std::string> names;
  for (const auto& [name, aggregation] : kNames) names.emplace_back(name);
  return names;
}

Aggregation aggregation_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, [](const auto& entry) { return entry.first; });
  check(found != kNames.end(), "[aggregation_named] there is no aggregation {}", name);
  return found->second;
}

std::vector<Entity> aggregate(Tokens tokens, Aggregation aggregation, std::span<const std::string> labels,
                              const Tokenizer& tokenizer) {
  std::vector<Entity> entities = labelled_parts(tokens, aggregation, labels, tokenizer);
  if (aggregation != Aggregation::none) entities = grouped_by_type(entities, tokenizer);
  std::erase_if(entities, [](const Entity& entity) { return entity.label == kOutside; });
  return entities;
}

io::Json entities_json(std::span<const Entity> entities, Aggregation aggregation) {
  const bool is_group = aggregation != Aggregation::none;
  io::Json list = io::Json::array();
  for (const Entity& entity : entities) {
    io::Json json{{is_group ? "entity_group" : "entity", entity.label}, {"score", static_cast<double>(entity.score)}};
    if (!is_group) json["index"] = entity.index;
    json["word"] = entity.word;
    json["start"] = entity.place.begin;
    json["end"] = entity.place.end;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace hearth::tasks
