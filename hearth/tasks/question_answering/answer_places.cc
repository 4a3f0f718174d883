#include "hearth/tasks/question_answering/answer_places.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "hearth/base/log.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tokenizer/text.h"

namespace hearth::tasks {
namespace {

namespace python = tokenizer::python;

constexpr std::size_t kIdsInWarning = 3;

std::vector<std::int64_t> occurrences(std::string_view text, std::string_view context) {
  std::vector<std::int64_t> places;
  std::size_t counted = 0;
  std::int64_t code_points = 0;
  for (std::size_t at = context.find(text); at != context.npos; at = context.find(text, at + text.size())) {
    code_points += python::length(context.substr(counted, at - counted));
    counted = at;
    places.push_back(code_points);
  }
  return places;
}

}  // namespace

std::int64_t AnswerPlaces::find(std::string_view answer, std::optional<std::int64_t> answer_start,
                                std::string_view context, const std::string& id) {
  ++answers_;
  if (answer_start && *answer_start >= 0 && python::suffix(context, *answer_start).starts_with(answer))
    return *answer_start;
  const std::vector<std::int64_t> places = occurrences(answer, context);
  if (places.empty()) {
    count(missing, id);
    return QaAnswer::kNowhere;
  }
  if (!answer_start) {
    if (places.size() > 1) count(ambiguous, id);
    return places.front();
  }
  count(moved, id);
  const auto distance = [&](std::int64_t place) { return std::abs(place - *answer_start); };
  return *std::ranges::min_element(places, {}, distance);
}

void AnswerPlaces::count(Misfit misfit, const std::string& id) {
  ++counts_[misfit].answers;
  if (counts_[misfit].first_ids.size() < kIdsInWarning) counts_[misfit].first_ids.push_back(id);
}

void AnswerPlaces::warn(std::string_view file) const {
  constexpr std::array<std::string_view, kMisfits> kWhat{
      "{} moved from a wrong answer_start to the nearest occurrence of the text",
      "{} without answer_start and with several occurrences, the first of which is used",
      "{} not in the context; training leaves out questions that have no other answer"};
  std::int64_t all = 0;
  std::vector<std::string> parts;
  for (std::size_t misfit = 0; misfit < kMisfits; ++misfit) {
    const Count& count = counts_[misfit];
    if (count.answers == 0) continue;
    all += count.answers;
    const bool more = count.answers > std::ssize(count.first_ids);
    parts.push_back(fmt::format("{} (question {}{})", fmt::format(fmt::runtime(kWhat[misfit]), count.answers),
                                fmt::join(count.first_ids, ", "), more ? ", ..." : ""));
  }
  if (all > 0)
    log_warning("{}: {} of {} answers do not fit their contexts: {}", file, all, answers_, fmt::join(parts, "; "));
}

}  // namespace hearth::tasks
