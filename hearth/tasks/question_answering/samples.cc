#include "hearth/tasks/question_answering/samples.h"

#include <algorithm>

#include "hearth/tasks/common/samples.h"
#include "hearth/tasks/question_answering/squad_metric.h"

namespace hearth::tasks {
namespace {

bool is_right(const QaExample& example, const QaPrediction& prediction) {
  if (example.answers.empty()) return prediction.text.empty();
  const std::string predicted = normalize_answer(prediction.text);
  return std::ranges::any_of(example.answers,
                             [&](const QaAnswer& answer) { return normalize_answer(answer.text) == predicted; });
}

// Some characters before and after what the reader looks for.
std::string excerpt_around(const std::string& text, const std::string& sought) {
  constexpr std::size_t kBefore = 160, kLength = 420;
  const std::size_t found = sought.empty() ? 0 : text.find(sought);
  const auto is_inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t begin = found == text.npos || found < kBefore ? 0 : found - kBefore;
  std::size_t end = std::min(text.size(), begin + kLength);
  if (begin > 0) {  // at the beginning of a word
    const std::size_t space = text.find(' ', begin);
    begin = space < found ? space + 1 : found;
  }
  while (is_inside(end)) ++end;
  return (begin > 0 ? "... " : "") + text.substr(begin, end - begin) + (end < text.size() ? " ..." : "");
}

}  // namespace

std::vector<SamplePrediction> qa_samples(std::span<const QaExample> examples,
                                         std::span<const QaPrediction> predictions) {
  const auto right = [&](std::int64_t item) {
    return is_right(examples[static_cast<std::size_t>(item)], predictions[static_cast<std::size_t>(item)]);
  };
  std::vector<SamplePrediction> samples;
  for (const std::int64_t item : sample_items(std::ssize(examples), kSamples, right)) {
    const QaExample& example = examples[static_cast<std::size_t>(item)];
    const QaPrediction& prediction = predictions[static_cast<std::size_t>(item)];
    const std::string expected = example.answers.empty() ? "" : example.answers.front().text;
    samples.push_back({excerpt_around(*example.context, expected.empty() ? prediction.text : expected),
                       example.question, expected, prediction.text, right(item)});
  }
  return samples;
}

}  // namespace hearth::tasks
