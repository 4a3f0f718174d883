#include "hearth/metrics/entities.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "hearth/base/check.h"

namespace hearth::metrics {
namespace {

void check_sizes(Sentences truth, Sentences predicted) {
  check(truth.size() == predicted.size(), "there are {} predicted sentences for {} true ones", predicted.size(),
        truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i)
    check(truth[i].size() == predicted[i].size(), "sentence {} has {} tags, but {} predicted ones", i, truth[i].size(),
          predicted[i].size());
}

double tag_accuracy(Sentences truth, Sentences predicted) {
  std::int64_t correct = 0, tags = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < truth[i].size(); ++j) correct += truth[i][j] == predicted[i][j];
    tags += static_cast<std::int64_t>(truth[i].size());
  }
  check(tags > 0, "scores of entities need at least one token");
  return ratio(correct, tags);
}

// seqeval computes F1 from precision and recall, which differs from metrics::scores_of in the last digit.
Scores seqeval_scores(const Counts& counts) {
  const double precision = ratio(counts.correct, counts.predicted);
  const double recall = ratio(counts.correct, counts.truth);
  const double sum = precision + recall;
  return {precision, recall, sum == 0 ? 0.0 : 2 * precision * recall / sum, counts.truth};
}

std::vector<Entity> sorted_entities(Sentences sentences, TagMode mode) {
  std::vector<Entity> entities = find_entities(sentences, mode);
  std::sort(entities.begin(), entities.end());
  return entities;
}

std::map<std::string, Counts> counts_per_type(const std::vector<Entity>& truth, const std::vector<Entity>& predicted) {
  std::map<std::string, Counts> counts;
  std::vector<Entity> correct;
  std::set_intersection(truth.begin(), truth.end(), predicted.begin(), predicted.end(), std::back_inserter(correct));
  for (const Entity& entity : truth) ++counts[entity.type].truth;
  for (const Entity& entity : predicted) ++counts[entity.type].predicted;
  for (const Entity& entity : correct) ++counts[entity.type].correct;
  return counts;
}

}  // namespace

EntityScores entity_scores(Sentences truth, Sentences predicted, TagMode mode) {
  check_sizes(truth, predicted);
  EntityScores result;
  result.accuracy = tag_accuracy(truth, predicted);
  Counts total;
  for (const auto& [type, counts] : counts_per_type(sorted_entities(truth, mode), sorted_entities(predicted, mode))) {
    result.types.push_back({type, seqeval_scores(counts)});
    total.correct += counts.correct;
    total.predicted += counts.predicted;
    total.truth += counts.truth;
  }
  result.overall = seqeval_scores(total);
  return result;
}

}  // namespace hearth::metrics
