// Runs checks and keeps what they report.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "hearth/cpu/parallel.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/verify/verify.h"
#include "tests/support.h"

namespace hearth::verify {

struct Outcome {
  int made = 0, failures = 0;
  std::string failed_lines, all_lines;
};

inline Outcome outcome_of(const std::function<void(Report&)>& checks) {
  Outcome outcome;
  Report report([&](bool passed, std::string_view line) {
    outcome.all_lines += std::string(line) + "\n";
    if (!passed) outcome.failed_lines += std::string(line) + "\n";
  });
  checks(report);
  outcome.made = report.made();
  outcome.failures = report.failures();
  return outcome;
}

// Models this small are fastest with one thread.
inline Outcome run(const std::filesystem::path& set, int threads = 1) {
  cpu::set_num_threads(threads);
  return outcome_of([&](Report& report) { verify_set(set, report); });
}

inline void edit_json(const std::filesystem::path& file, const std::function<void(io::Json&)>& edit) {
  io::Json json = io::read_json(file);
  edit(json);
  io::replace_file(file, io::dump_json(json, 1));
}

}  // namespace hearth::verify
