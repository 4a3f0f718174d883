#include "hearth/tasks/question_answering/postprocess.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/text.h"

namespace hearth::tasks {
namespace {

using tokenizer::Offset;

constexpr std::int64_t kExamplesPerTask = 64;
constexpr Offset kNullOffset{0, 0};

struct Candidate {
  Offset place = kNullOffset;
  float score = 0, start_logit = 0, end_logit = 0;
};

// NaN is the greatest, as numpy sorts it.
bool is_greater(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

// Greatest first; among equals the later index first.
std::vector<std::size_t> best_indices(std::span<const float> logits, int count) {
  std::vector<std::size_t> indices(logits.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const auto kept = indices.begin() + std::min<std::ptrdiff_t>(count, std::ssize(indices));
  std::partial_sort(indices.begin(), kept, indices.end(), [&](std::size_t a, std::size_t b) {
    if (is_greater(logits[a], logits[b])) return true;
    return !is_greater(logits[b], logits[a]) && a > b;
  });
  indices.erase(kept, indices.end());
  return indices;
}

void add_candidates(std::vector<Candidate>& candidates, std::span<const Offset> offsets, const QaLogits& logits,
                    const QaPostprocessOptions& options) {
  const auto in_context = [&](std::size_t i) { return i < offsets.size() && offsets[i] != QaFeatures::kNoOffset; };
  const auto ends = best_indices(logits.end, options.n_best_size);
  for (const std::size_t start : best_indices(logits.start, options.n_best_size)) {
    if (!in_context(start)) continue;
    for (const std::size_t end : ends) {
      if (!in_context(end) || end < start) continue;
      if (end - start + 1 > static_cast<std::size_t>(options.max_answer_length)) continue;
      candidates.push_back({{offsets[start].begin, offsets[end].end},
                            logits.start[start] + logits.end[end],
                            logits.start[start],
                            logits.end[end]});
    }
  }
}

std::vector<QaCandidate> with_probabilities(const std::vector<Candidate>& candidates, const std::string& context) {
  std::vector<QaCandidate> nbest;
  std::vector<float> scores;
  for (const Candidate& candidate : candidates) {
    const auto text = tokenizer::python::slice(context, candidate.place.begin, candidate.place.end);
    nbest.push_back(
        {std::string(text), candidate.start_logit, candidate.end_logit, 0, candidate.place.begin, candidate.place.end});
    scores.push_back(candidate.score);
  }
  if (nbest.empty() || (nbest.size() == 1 && nbest.front().text.empty())) {
    nbest.insert(nbest.begin(), QaCandidate{"empty"});
    scores.insert(scores.begin(), 0.0f);
  }
  const float greatest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (float& score : scores) sum += score = std::exp(score - greatest);
  for (std::size_t i = 0; i < nbest.size(); ++i) nbest[i].probability = static_cast<float>(scores[i] / sum);
  return nbest;
}

// The features of the example are [first, last).
QaPrediction predict(const QaExample& example, const QaFeatures& features, std::int64_t first, std::int64_t last,
                     std::span<const QaLogits> logits, const QaPostprocessOptions& options) {
  std::optional<Candidate> null;
  std::vector<Candidate> candidates;
  for (std::int64_t feature = first; feature < last; ++feature) {
    const QaLogits& scores = logits[static_cast<std::size_t>(feature)];
    const float null_score = scores.start[0] + scores.end[0];
    if (!null || null->score > null_score) null = {kNullOffset, null_score, scores.start[0], scores.end[0]};
    add_candidates(candidates, features.offsets_of(feature), scores, options);
  }
  const bool may_be_null = options.version_2_with_negative && null;
  if (may_be_null) candidates.push_back(*null);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return is_greater(a.score, b.score); });
  candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(options.n_best_size)));
  const auto is_null = [](const Candidate& candidate) { return candidate.place == kNullOffset; };
  if (may_be_null && std::none_of(candidates.begin(), candidates.end(), is_null)) candidates.push_back(*null);

  QaPrediction prediction{example.id, "", with_probabilities(candidates, *example.context), 0};
  const auto has_text = [](const QaCandidate& candidate) { return !candidate.text.empty(); };
  const auto best = options.version_2_with_negative
                        ? std::find_if(prediction.nbest.begin(), prediction.nbest.end(), has_text)
                        : prediction.nbest.begin();
  if (best == prediction.nbest.end()) return prediction;
  prediction.text = best->text;
  if (may_be_null) {
    prediction.null_odds = null->score - best->start_logit - best->end_logit;
    if (prediction.null_odds > options.null_score_diff_threshold) prediction.text.clear();
  }
  return prediction;
}

void check_logits(const QaFeatures& features, std::span<const QaLogits> logits) {
  check(std::ssize(logits) == features.size(), "[postprocess_qa_predictions] logits of {} features for {} features",
        logits.size(), features.size());
  check(features.offsets.size() == features.ids.size(), "[postprocess_qa_predictions] the features have no offsets");
  for (std::int64_t feature = 0; feature < features.size(); ++feature) {
    const auto& [start, end] = logits[static_cast<std::size_t>(feature)];
    check(start.size() == end.size() && std::ssize(start) >= features.length(feature),
          "[postprocess_qa_predictions] feature {} of {} tokens has {} start and {} end logits", feature,
          features.length(feature), start.size(), end.size());
  }
}

io::Json nbest_json(const QaPrediction& prediction) {
  io::Json list = io::Json::array();
  for (const QaCandidate& candidate : prediction.nbest) {
    list.push_back({{"start_logit", static_cast<double>(candidate.start_logit)},
                    {"end_logit", static_cast<double>(candidate.end_logit)},
                    {"text", candidate.text},
                    {"probability", static_cast<double>(candidate.probability)}});
  }
  return list;
}

}  // namespace

std::vector<float> kept_logits(std::int64_t sequence, const Batch& batch, const nn::ModelOutput& output) {
  const auto s = static_cast<std::size_t>(sequence);
  std::vector<float> kept;
  for (const char* name : {"start_logits", "end_logits"}) {
    const float* logits = output.logits_named(name).data<float>();
    kept.insert(kept.end(), logits + batch.starts[s], logits + batch.starts[s + 1]);
  }
  return kept;
}

std::vector<QaLogits> qa_logits(const ItemValues& kept) {
  std::vector<QaLogits> logits;
  for (std::int64_t feature = 0; feature < kept.size(); ++feature) {
    const std::span<const float> both = kept[feature];
    logits.push_back({both.first(both.size() / 2), both.last(both.size() / 2)});
  }
  return logits;
}

std::vector<QaPrediction> postprocess_qa_predictions(std::span<const QaExample> examples, const QaFeatures& features,
                                                     std::span<const QaLogits> logits,
                                                     const QaPostprocessOptions& options) {
  check(options.n_best_size > 0, "n_best_size is {}; it must be at least 1", options.n_best_size);
  check_logits(features, logits);
  const auto first_feature_of = [&](std::int64_t example) {
    return std::lower_bound(features.examples.begin(), features.examples.end(), example) - features.examples.begin();
  };
  std::vector<QaPrediction> predictions(examples.size());
  cpu::parallel_chunks(std::ssize(examples), kExamplesPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto index = static_cast<std::size_t>(i);
      predictions[index] =
          predict(examples[index], features, first_feature_of(i), first_feature_of(i + 1), logits, options);
    }
  });
  return predictions;
}

void write_qa_predictions(std::span<const QaPrediction> predictions, const std::filesystem::path& folder,
                          std::string_view prefix, const QaPostprocessOptions& options) {
  const auto write = [&](std::string_view name, const auto& value_of) {
    io::Json::object_t object;
    std::map<std::string_view, std::size_t> places;
    for (const QaPrediction& prediction : predictions) {
      const auto [found, is_new] = places.try_emplace(prediction.id, object.size());
      if (is_new) {
        object.emplace_back(prediction.id, value_of(prediction));
      } else {
        object.data()[found->second].second = value_of(prediction);
      }
    }
    io::replace_file(folder / fmt::format("{}_{}.json", prefix, name),
                     io::dump_json(io::Json(std::move(object)), 4) + "\n");
  };
  write("predictions", [](const QaPrediction& prediction) { return io::Json(prediction.text); });
  write("nbest_predictions", nbest_json);
  if (!options.version_2_with_negative) return;
  write("null_odds",
        [](const QaPrediction& prediction) { return io::Json(static_cast<double>(prediction.null_odds)); });
}

}  // namespace hearth::tasks
