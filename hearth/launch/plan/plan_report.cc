#include "hearth/launch/plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "hearth/base/shell_word.h"
#include "hearth/launch/place/cpu_list.h"
#include "hearth/launch/start/environment_contract.h"

namespace hearth::launch {
namespace {

std::string processors_text(const std::vector<Place>& places) {
  std::vector<int> all;
  for (const Place& place : places) all.insert(all.end(), place.begin(), place.end());
  return all.empty() ? "-" : cpu_list_text(all);
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

bool has(const RankStart& start, const Variables::value_type& variable) {
  return std::ranges::find(start.start.environment, variable) != start.start.environment.end();
}

}  // namespace

std::string plan_table(const LaunchPlan& plan) {
  std::string text = "Launch";
  for (const Decisions::Row& row : plan.decisions.rows())
    text += fmt::format("\n  {:<30} {:<24} {}", row.name, row.value, row.reason);
  text += fmt::format("\nRanks\n  {:<6} {:<6} {:<8} {:<24} {:<8} {}", "rank", "local", "nodes", "processors", "threads",
                      "communication");
  for (std::size_t i = 0; i < plan.placement.size(); ++i) {
    const RankPlacement& placement = plan.placement[i];
    const comm::World world = rank_of(plan, static_cast<int>(i));
    text += fmt::format("\n  {:<6} {:<6} {:<8} {:<24} {:<8} {}", world.rank, world.local_rank,
                        placement.nodes.empty() ? "any" : cpu_list_text(placement.nodes),
                        processors_text(placement.places), placement.threads, processors_text(placement.communication));
  }
  return text;
}

std::string command_table(const std::vector<std::string>& command, const std::vector<RankStart>& ranks) {
  std::string text = "Command\n  " + command_text(command) + "\nEnvironment";
  const auto is_common = [&](const Variables::value_type& variable) {
    return std::ranges::all_of(ranks, [&](const RankStart& rank) { return has(rank, variable); });
  };
  for (const auto& variable : ranks.front().start.environment)
    if (is_common(variable)) text += fmt::format("\n  {}={}", variable.first, variable.second);
  for (const RankStart& rank : ranks) {
    std::string own;
    for (const auto& variable : rank.start.environment)
      if (!is_common(variable)) own += fmt::format(" {}={}", variable.first, shell_word(variable.second));
    if (!own.empty()) text += fmt::format("\n  rank {}:{}", rank.rank, own);
  }
  return text;
}

}  // namespace hearth::launch
