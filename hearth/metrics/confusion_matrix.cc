#include "hearth/metrics/confusion_matrix.h"

#include "hearth/base/check.h"

namespace hearth::metrics {
namespace {

std::size_t checked_label(std::int64_t label, std::size_t classes) {
  check(label >= 0 && static_cast<std::size_t>(label) < classes,
        "the label {} is not one of the {} classes of the confusion matrix", label, classes);
  return static_cast<std::size_t>(label);
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(Labels truth, Labels predicted, std::size_t classes)
    : classes_(classes), cells_(classes * classes) {
  check(classes > 0, "a confusion matrix needs at least one class");
  check(truth.size() == predicted.size(), "there are {} predicted labels for {} examples", predicted.size(),
        truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i)
    ++cells_[checked_label(truth[i], classes) * classes + checked_label(predicted[i], classes)];
}

std::vector<Counts> ConfusionMatrix::counts() const {
  std::vector<Counts> counts(classes_);
  for (std::size_t truth = 0; truth < classes_; ++truth) {
    counts[truth].correct = at(truth, truth);
    for (std::size_t predicted = 0; predicted < classes_; ++predicted) {
      counts[truth].truth += at(truth, predicted);
      counts[predicted].predicted += at(truth, predicted);
    }
  }
  return counts;
}

}  // namespace hearth::metrics
