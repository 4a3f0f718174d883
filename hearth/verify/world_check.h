#pragma once

#include <string>
#include <vector>

#include "hearth/parallel/team.h"
#include "hearth/verify/report.h"

namespace hearth::verify {

// The result of a check on one rank; no complaint: it passed.
struct CheckResult {
  std::string complaint = {};
  std::string detail = {};  // reported if the check passed
};

struct WorldCheck {
  std::string name;
  CheckResult (*run)(const parallel::Team& team);
};

// One check per collective operation, against plain loops.
std::vector<WorldCheck> collective_checks();
// Compares training on several ranks with training on one.
std::vector<WorldCheck> team_training_checks();

// Checks that the ranks of a job can train together. Every rank calls it; the report of rank 0 gets one line per check.
// Every rank gets the names of the checks that failed.
std::vector<std::string> check_world(const parallel::Team& team, Report& report);

}  // namespace hearth::verify
