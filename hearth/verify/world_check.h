#pragma once

#include <string>
#include <vector>

#include "hearth/parallel/team.h"
#include "hearth/verify/report.h"

namespace hearth::verify {

// What one rank found: empty where all is well.
struct Finding {
  std::string complaint = {};
  std::string detail = {};  // said where all is well
};

struct WorldCheck {
  std::string name;
  Finding (*run)(const parallel::Team& team);
};

// One for each operation of a group, against what plain loops give.
std::vector<WorldCheck> collective_checks();
// Training on several ranks against training on one.
std::vector<WorldCheck> team_training_checks();

// That the ranks of a job see each other and can train together. Every rank calls it; the first one's report gets a
// line for each check. The names of those that failed, on every rank.
std::vector<std::string> check_world(const parallel::Team& team, Report& report);

}  // namespace hearth::verify
