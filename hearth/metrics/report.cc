#include "hearth/metrics/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/text_layout.h"

namespace hearth::metrics {
namespace {

Report report_of(std::span<const Counts> counts, std::span<const std::string> names) {
  check(names.size() == counts.size(), "there are {} names for {} classes", names.size(), counts.size());
  Report report{{}, averages_of(counts), std::nullopt};
  for (std::size_t i = 0; i < names.size(); ++i) report.classes.push_back({names[i], scores_of(counts[i])});
  return report;
}

std::size_t width_of_names(const Report& report) {
  std::size_t width = std::string_view("weighted avg").size();
  for (const ClassScores& row : report.classes) width = std::max(width, columns_of(printable(row.name)));
  return width;
}

std::string head(const std::string& name, std::size_t width) {
  const std::string shown = printable(name);
  return std::string(width - columns_of(shown), ' ') + shown + " ";
}

}  // namespace

Report classification_report(const ConfusionMatrix& matrix, std::span<const std::string> names) {
  Report report = report_of(matrix.counts(), names);
  report.accuracy = report.averages.micro.f1;
  return report;
}

Report multi_label_report(const MultiLabelScores& scores, std::span<const std::string> names) {
  return report_of(scores.counts, names);
}

std::string report_text(const Report& report, int digits) {
  const std::size_t width = width_of_names(report);
  const auto row = [&](const std::string& name, const Scores& scores) {
    return head(name, width) + fmt::format(" {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9}\n", scores.precision, digits,
                                           scores.recall, digits, scores.f1, digits, scores.support);
  };
  const Averages& averages = report.averages;
  std::string text = head("", width) + " precision    recall  f1-score   support\n\n";
  for (const ClassScores& scores : report.classes) text += row(scores.name, scores.scores);
  text += '\n';
  if (report.accuracy)
    text += head("accuracy", width) +
            fmt::format("{:>20} {:>9.{}f} {:>9}\n", "", *report.accuracy, digits, averages.micro.support);
  else
    text += row("micro avg", averages.micro);
  return text + row("macro avg", averages.macro) + row("weighted avg", averages.weighted);
}

}  // namespace hearth::metrics
