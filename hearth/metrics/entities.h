#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "hearth/metrics/scores.h"

// Scores of named entities, as seqeval 1.2.2 computes them. A tag is a letter and a type, "B-PER"; B begins an entity,
// I continues it, E ends it, S is an entity of one token, O is none.
namespace hearth::metrics {

enum class TagMode {
  lenient,     // seqeval's default, as conlleval: I-X may open an entity, and a change of type splits one
  strict_iob2  // seqeval's mode="strict", scheme=IOB2: an entity is B-X and the I-X after it; other I-X are ignored
};

using Sentences = std::span<const std::vector<std::string>>;  // tags per sentence

// Tokens `first` to `last`, counted over all sentences, with one number left out after each sentence.
struct Entity {
  std::string type;
  std::size_t first = 0, last = 0;

  bool operator==(const Entity&) const = default;
  bool operator<(const Entity& other) const {
    return std::tie(type, first, last) < std::tie(other.type, other.first, other.last);
  }
};

std::vector<Entity> find_entities(Sentences sentences, TagMode mode = TagMode::lenient);

struct EntityTypeScores {
  std::string type;
  Scores scores;  // `support` is seqeval's "number"
};

struct EntityScores {
  Scores overall;                       // micro average over all entities
  double accuracy = 0;                  // of tags, O included
  std::vector<EntityTypeScores> types;  // sorted by type
};

// An entity is correct if type, first and last token are.
EntityScores entity_scores(Sentences truth, Sentences predicted, TagMode mode = TagMode::lenient);

}  // namespace hearth::metrics
