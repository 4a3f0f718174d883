#include "hearth/tasks/text_classification/class_report.h"

#include "hearth/metrics/confusion_matrix.h"
#include "hearth/metrics/multi_label.h"
#include "hearth/metrics/report.h"

namespace hearth::tasks {
namespace {

io::Json json_of(const metrics::Scores& scores) {
  return {
      {"precision", scores.precision}, {"recall", scores.recall}, {"f1-score", scores.f1}, {"support", scores.support}};
}

// The layout of scikit-learn's classification_report(output_dict=True), with the classes in an object of their own.
io::Json json_of(const metrics::Report& report) {
  io::Json json{{"classes", io::Json::object()}};
  for (const metrics::ClassScores& row : report.classes) json["classes"][row.name] = json_of(row.scores);
  if (report.accuracy) json["accuracy"] = *report.accuracy;
  if (!report.accuracy) json["micro avg"] = json_of(report.averages.micro);
  json["macro avg"] = json_of(report.averages.macro);
  json["weighted avg"] = json_of(report.averages.weighted);
  return json;
}

io::Json json_of(const metrics::ConfusionMatrix& matrix) {
  io::Json rows = io::Json::array();
  for (std::size_t truth = 0; truth < matrix.classes(); ++truth)
    rows.push_back(std::vector<std::int64_t>(matrix.row(truth).begin(), matrix.row(truth).end()));
  return rows;
}

}  // namespace

ClassReport class_report(const TextProblem& problem, const TextLabels& truth, const TextPredictions& predicted) {
  if (problem.is_regression()) return {};
  const std::vector<std::string>& names = problem.labels.names();
  if (problem.has_several_labels()) {
    const metrics::Report report =
        metrics::multi_label_report(metrics::multi_label_scores(truth.flags(), predicted.flags, names.size()), names);
    return {metrics::report_text(report), json_of(report)};
  }
  const metrics::ConfusionMatrix matrix(truth.classes, predicted.classes, names.size());
  const metrics::Report report = metrics::classification_report(matrix, names);
  io::Json json = json_of(report);
  json["labels"] = names;
  json["confusion_matrix"] = json_of(matrix);  // (true label, predicted label)
  return {metrics::report_text(report) + "\n" + metrics::confusion_table(matrix, names), std::move(json)};
}

}  // namespace hearth::tasks
