#include "hearth/metrics/scores.h"

#include "hearth/base/check.h"
#include "hearth/metrics/pairwise_sum.h"

namespace hearth::metrics {
namespace {

Counts total_of(std::span<const Counts> classes) {
  Counts total;
  for (const Counts& counts : classes) {
    total.correct += counts.correct;
    total.predicted += counts.predicted;
    total.truth += counts.truth;
  }
  return total;
}

double weighted_mean(std::span<const Scores> classes, std::span<const double> weights, double Scores::*score) {
  std::vector<double> products;
  for (std::size_t i = 0; i < classes.size(); ++i) products.push_back(classes[i].*score * weights[i]);
  return pairwise_sum<double>(products) / pairwise_sum<double>(weights);
}

Scores weighted_mean(std::span<const Scores> classes, std::span<const double> weights, std::int64_t support) {
  return {weighted_mean(classes, weights, &Scores::precision), weighted_mean(classes, weights, &Scores::recall),
          weighted_mean(classes, weights, &Scores::f1), support};
}

}  // namespace

double ratio(std::int64_t numerator, std::int64_t denominator) {
  return denominator == 0 ? 0.0 : static_cast<double>(numerator) / static_cast<double>(denominator);
}

Scores scores_of(const Counts& counts) {
  return {ratio(counts.correct, counts.predicted), ratio(counts.correct, counts.truth),
          ratio(2 * counts.correct, counts.truth + counts.predicted), counts.truth};
}

std::vector<Scores> scores_of(std::span<const Counts> classes) {
  std::vector<Scores> scores;
  for (const Counts& counts : classes) scores.push_back(scores_of(counts));
  return scores;
}

Averages averages_of(std::span<const Counts> classes) {
  check(!classes.empty(), "averages of scores need at least one class");
  const Counts total = total_of(classes);
  const std::vector<Scores> scores = scores_of(classes);
  const std::vector<double> equal(classes.size(), 1.0);
  std::vector<double> supports;
  for (const Counts& counts : classes) supports.push_back(static_cast<double>(counts.truth));
  return {scores_of(total), weighted_mean(scores, equal, total.truth),
          weighted_mean(scores, total.truth == 0 ? equal : supports, total.truth)};
}

}  // namespace hearth::metrics
