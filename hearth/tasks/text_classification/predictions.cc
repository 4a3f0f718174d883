#include "hearth/tasks/text_classification/predictions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hearth/io/file.h"

namespace hearth::tasks {
namespace {

// As Python's repr of a string with ordinary letters.
std::string quoted(const std::string& name) {
  const char quote = name.find('\'') != name.npos && name.find('"') == name.npos ? '"' : '\'';
  std::string text(1, quote);
  for (const char c : name) {
    if (c == quote || c == '\\') text += '\\';
    text += c;
  }
  return text + quote;
}

std::string list_of(const TextPredictions& predictions, const LabelMap& labels, std::size_t row) {
  const auto width = static_cast<std::size_t>(labels.size());
  std::vector<std::string> names;
  for (std::size_t label = 0; label < width; ++label)
    if (predictions.flags[row * width + label] != 0) names.push_back(quoted(labels.names()[label]));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

}  // namespace

std::vector<float> kept_class_logits(std::int64_t sequence, const Batch&, const nn::ModelOutput& output) {
  const Tensor& logits = output.logits_named("logits");  // (S, labels)
  const float* const row = logits.data<float>() + sequence * logits.row_size();
  return {row, row + logits.row_size()};
}

TextPredictions predictions_of(const ItemValues& logits, const TextProblem& problem) {
  TextPredictions result;
  for (std::int64_t item = 0; item < logits.size(); ++item) {
    const std::span<const float> row = logits[item];
    if (problem.ranks) {
      result.numbers.push_back(1 / (1 + std::exp(-row.front())));
    } else if (problem.is_regression()) {
      result.numbers.push_back(row.front());
    } else if (problem.has_several_labels()) {
      for (const float logit : row) result.flags.push_back(logit > 0);
    } else {
      result.classes.push_back(std::ranges::max_element(row) - row.begin());
    }
  }
  return result;
}

void write_predictions(const TextPredictions& predictions, const TextProblem& problem,
                       const std::filesystem::path& file) {
  std::string text = "index\tprediction\n";
  std::size_t row = 0;
  const auto add = [&](const std::string& prediction) { text += fmt::format("{}\t{}\n", row++, prediction); };
  for (const std::int64_t label : predictions.classes) add(problem.labels.name(label));
  for (const float number : predictions.numbers) add(fmt::format("{:.3f}", number));
  if (problem.has_several_labels())
    while (row * static_cast<std::size_t>(problem.labels.size()) < predictions.flags.size())
      add(list_of(predictions, problem.labels, row));
  io::replace_file(file, text);
}

}  // namespace hearth::tasks
