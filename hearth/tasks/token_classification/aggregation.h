#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

// How tokens become entities, the aggregation_strategy of transformers' token-classification pipeline:
// - none: every token for itself;
// - simple: neighbouring tokens of one type make an entity, and B-X begins a new one;
// - first, average, max: the same with words instead of tokens; the tag of a word is that of its first token, that of
//   the mean of its tokens' probabilities, or that of its surest token.
enum class Aggregation { none, simple, first, average, max };
std::vector<std::string> aggregation_names();
Aggregation aggregation_named(std::string_view name);  // one of these

// A token of a text with the probabilities of all labels.
struct ScoredToken {
  std::string word;  // as in the vocabulary; the text itself if it is an unknown token
  std::vector<float> probabilities;
  tokenizer::Offset place;  // in the text
  std::int64_t index = 0;   // among the model's tokens, special tokens included
  bool continues_word = false;
};

struct Entity {
  std::string label;  // a type such as PER; with Aggregation::none a label such as B-PER
  float score = 0;
  std::string word;
  tokenizer::Offset place;
  std::int64_t index = 0;  // with Aggregation::none
};

// The entities of a text, without those that are O. `labels` are the names by id.
std::vector<Entity> aggregate(std::span<const ScoredToken> tokens, Aggregation aggregation,
                              std::span<const std::string> labels, const tokenizer::Tokenizer& tokenizer);

// A list with the keys of the pipeline.
io::Json entities_json(std::span<const Entity> entities, Aggregation aggregation);

}  // namespace hearth::tasks
