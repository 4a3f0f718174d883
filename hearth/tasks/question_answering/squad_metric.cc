#include "hearth/tasks/question_answering/squad_metric.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/text.h"

namespace hearth::tasks {
namespace {

namespace python = tokenizer::python;

bool is_ascii_punctuation(char c) {
  return ('!' <= c && c <= '/') || (':' <= c && c <= '@') || ('[' <= c && c <= '`') || ('{' <= c && c <= '~');
}

bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

// Replaces what the regular expression \b(a|an|the)\b matches by a space: runs of word characters that are an article.
std::string without_articles(std::string_view text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t run = at;
    std::size_t behind = at;
    while (at < text.size() && python::is_word(io::next_code_point(text, behind))) at = behind;
    const std::string_view word = text.substr(run, at - run);
    result += is_article(word) ? " " : word;
    const std::size_t other = at;
    io::next_code_point(text, at);
    result += text.substr(other, at - other);
  }
  return result;
}

// The words of a normalised answer with their counts.
struct Words {
  explicit Words(std::string_view normalized) {
    for (const std::string_view word : python::split(normalized)) ++counts[std::string(word)], ++total;
  }
  std::map<std::string, std::int64_t> counts;
  std::int64_t total = 0;
};

double f1_of(const Words& prediction, const Words& truth) {
  std::int64_t same = 0;
  for (const auto& [word, count] : prediction.counts) {
    const auto found = truth.counts.find(word);
    if (found != truth.counts.end()) same += std::min(count, found->second);
  }
  if (same == 0) return 0;
  const double precision = static_cast<double>(same) / static_cast<double>(prediction.total);
  const double recall = static_cast<double>(same) / static_cast<double>(truth.total);
  return (2 * precision * recall) / (precision + recall);
}

struct Score {
  double exact = 0, f1 = 0;
};

// The best score over the true answers, which are normalised. `f1_of_nothing` is the F1 if neither side has any words.
Score score_of(std::string_view prediction, std::span<const std::string> truths, double f1_of_nothing) {
  const std::string normalized = normalize_answer(prediction);
  const Words words(normalized);
  Score best;
  for (const std::string& truth : truths) {
    const Words true_words(truth);
    const bool nothing = words.total == 0 && true_words.total == 0;
    best.exact = std::max(best.exact, normalized == truth ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, nothing ? f1_of_nothing : f1_of(words, true_words));
  }
  return best;
}

// Sums of scores over a group of questions.
struct Total {
  double exact = 0, f1 = 0;
  std::int64_t count = 0;

  void add(const Score& score) {
    exact += score.exact;
    f1 += score.f1;
    ++count;
  }
  double percent(double sum) const { return 100.0 * sum / static_cast<double>(count); }
};

// The best total over all no-answer thresholds: start with every question unanswered, answer them one by one and keep
// the maximum.
class BestThreshold {
 public:
  explicit BestThreshold(std::int64_t unanswerable) : current_(static_cast<double>(unanswerable)), best_(current_) {}

  void add(double change) {
    current_ += change;
    best_ = std::max(best_, current_);
  }
  double best() const { return best_; }

 private:
  double current_, best_;
};

void check_sizes(std::span<const QaExample> examples, std::span<const QaPrediction> predictions) {
  check(examples.size() == predictions.size() && !examples.empty(), "[squad_metric] {} predictions for {} questions",
        predictions.size(), examples.size());
}

}  // namespace

std::string normalize_answer(std::string_view text) {
  std::string letters = python::lower(text);
  std::erase_if(letters, is_ascii_punctuation);
  const std::string spaced = without_articles(letters);
  std::string normalized;
  for (const std::string_view word : python::split(spaced)) {
    if (!normalized.empty()) normalized += ' ';
    normalized += word;
  }
  return normalized;
}

Metrics squad_metric(std::span<const QaExample> examples, std::span<const QaPrediction> predictions) {
  check_sizes(examples, predictions);
  Total total;
  std::int64_t unanswerable = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    std::vector<std::string> truths;
    for (const auto& answer : examples[i].answers) truths.push_back(normalize_answer(answer.text));
    if (truths.empty()) ++unanswerable;
    total.add(score_of(predictions[i].text, truths, 0.0));
  }
  if (unanswerable > 0) {
    log_warning(
        "{} of {} questions have no answer and count as wrong; use --version_2_with_negative to evaluate them as "
        "unanswerable",
        unanswerable, examples.size());
  }
  return {{"exact_match", total.percent(total.exact)}, {"f1", total.percent(total.f1)}};
}

Metrics squad_v2_metric(std::span<const QaExample> examples, std::span<const QaPrediction> predictions) {
  check_sizes(examples, predictions);
  const auto is_unanswerable = [](const QaExample& example) { return example.answers.empty(); };
  const auto unanswerable = std::count_if(examples.begin(), examples.end(), is_unanswerable);
  Total all, with_answer, without_answer;
  BestThreshold best_exact(unanswerable), best_f1(unanswerable);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::string& prediction = predictions[i].text;
    std::vector<std::string> truths;
    for (const auto& answer : examples[i].answers) {
      if (std::string truth = normalize_answer(answer.text); !truth.empty()) truths.push_back(std::move(truth));
    }
    if (truths.empty()) truths.emplace_back();
    const Score score = score_of(prediction, truths, 1.0);
    all.add(score);
    if (is_unanswerable(examples[i])) {
      without_answer.add(score);
      best_exact.add(prediction.empty() ? 0 : -1);
      best_f1.add(prediction.empty() ? 0 : -1);
    } else {
      with_answer.add(score);
      best_exact.add(score.exact);
      best_f1.add(score.f1);
    }
  }

  Metrics result;
  const auto report = [&](const std::string& prefix, const Total& total) {
    if (total.count == 0) return;
    result.set(prefix + "exact", total.percent(total.exact));
    result.set(prefix + "f1", total.percent(total.f1));
    result.set(prefix + "total", total.count);
  };
  report("", all);
  report("HasAns_", with_answer);
  report("NoAns_", without_answer);
  // As run_qa.py: no_answer_probability is 0 for every question, so the best threshold is 0 too.
  result.set("best_exact", all.percent(best_exact.best()));
  result.set("best_exact_thresh", 0.0);
  result.set("best_f1", all.percent(best_f1.best()));
  result.set("best_f1_thresh", 0.0);
  return result;
}

std::vector<std::string> squad_metric_names(bool version_2) {
  if (!version_2) return {"exact_match", "f1"};
  std::vector<std::string> names{"best_exact", "best_exact_thresh", "best_f1", "best_f1_thresh"};
  for (const std::string prefix : {"", "HasAns_", "NoAns_"})
    for (const char* name : {"exact", "f1", "total"}) names.push_back(prefix + name);
  return names;
}

}  // namespace hearth::tasks
