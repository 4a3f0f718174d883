#include "hearth/metrics/multi_label.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::metrics {
namespace {

void check_flags(Flags truth, Flags predicted, std::size_t labels) {
  check(truth.size() == predicted.size(), "there are {} predicted flags for {} true ones", predicted.size(),
        truth.size());
  check(labels > 0 && !truth.empty() && truth.size() % labels == 0, "{} flags are not rows of {} labels", truth.size(),
        labels);
  const auto is_flag = [](std::uint8_t value) { return value <= 1; };
  check(std::all_of(truth.begin(), truth.end(), is_flag) && std::all_of(predicted.begin(), predicted.end(), is_flag),
        "flags of labels are 0 or 1");
}

}  // namespace

MultiLabelScores multi_label_scores(Flags truth, Flags predicted, std::size_t labels) {
  check_flags(truth, predicted, labels);
  MultiLabelScores scores;
  scores.counts.resize(labels);
  std::int64_t rows = 0, right_rows = 0;
  for (std::size_t row = 0; row < truth.size(); row += labels) {
    const Flags true_row = truth.subspan(row, labels), predicted_row = predicted.subspan(row, labels);
    ++rows;
    right_rows += std::equal(true_row.begin(), true_row.end(), predicted_row.begin());
    for (std::size_t label = 0; label < labels; ++label) {
      scores.counts[label].truth += true_row[label];
      scores.counts[label].predicted += predicted_row[label];
      scores.counts[label].correct += true_row[label] & predicted_row[label];
    }
  }
  scores.labels = scores_of(scores.counts);
  scores.averages = averages_of(scores.counts);
  scores.subset_accuracy = ratio(right_rows, rows);
  return scores;
}

}  // namespace hearth::metrics
