#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tasks {

// Finds where answers stand in their contexts, and remembers those that do not fit for one warning per file.
class AnswerPlaces {
 public:
  // Where the answer, which is not blank, begins, in code points; QaAnswer::kNowhere if the context does not contain
  // it.
  // - An answer that stands at its answer_start keeps it.
  // - An answer that does not is moved to the nearest occurrence. Wrong positions mostly count bytes or UTF-16 units,
  //   or come from a text with other line ends: such errors are small beside the distance of two occurrences.
  // - An answer without answer_start is at its first occurrence.
  std::int64_t find(std::string_view answer, std::optional<std::int64_t> answer_start, std::string_view context,
                    const std::string& id);

  // One warning, with the ids of the first questions concerned; none if every answer fits.
  void warn(std::string_view file) const;

 private:
  enum Misfit { moved, ambiguous, missing, kMisfits };
  struct Count {
    std::int64_t answers = 0;
    std::vector<std::string> first_ids;
  };
  void count(Misfit misfit, const std::string& id);

  std::int64_t answers_ = 0;
  std::array<Count, kMisfits> counts_;
};

}  // namespace hearth::tasks
