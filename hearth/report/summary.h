#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/report/run_record.h"

namespace hearth::report {

// What the run does now: its state, or "killed" (its process is gone without having ended it), or "silent" (on another
// host, without news for ten minutes).
std::string state_now(const RunRecord& run);

// The main numbers of a run, for scripts; null where something is not known. "best" and "last" have the scores of its
// evaluations by name.
io::Json summary_of(const RunRecord& run);

// The names of all scores in the evaluations of these runs, in the order in which they appear.
std::vector<std::string> score_names(std::span<const RunRecord> runs);
// The best value of a score: the least of a loss, the greatest of the others; null without one.
io::Json best_of(const RunRecord& run, const std::string& score);

// Settings that are not the same in all runs, by name, with a value per run; null: the run does not have it.
io::Json differing_settings(std::span<const RunRecord> runs);

std::string number_text(const io::Json& number);  // four digits; "" for null
std::string bytes_text(double bytes);             // "1.25 GiB"
std::string time_text(double seconds);            // "7 min 20 s"

}  // namespace hearth::report
