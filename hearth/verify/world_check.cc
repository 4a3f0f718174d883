#include "hearth/verify/world_check.h"

#include <algorithm>
#include <set>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/random.h"
#include "hearth/comm/world.h"
#include "hearth/data/sampler.h"

namespace hearth::verify {
namespace {

CheckResult processes(const parallel::Team& team) {
  const std::vector<std::string> hosts = team.gather(comm::host_name());
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(team.size()));
  const std::int64_t own = team.rank();
  team.group().all_gather(&own, ranks.data(), 1, DType::i64)->wait();
  if (ranks != data::sequential_order(team.size())) return {fmt::format("the ranks are not 0 to {}", team.size() - 1)};
  return {{},
          fmt::format("{}, hosts: {}, over {}", team.size(), std::set(hosts.begin(), hosts.end()).size(),
                      team.group().backend())};
}

CheckResult random_numbers(const parallel::Team& team) {
  parallel::Team::NamedValues facts;
  for (const std::uint64_t step : {0, 1, 1000}) {
    const PhiloxCounter drawn = philox({1, 2, 3, 4}, philox_key(42, step, 7));
    facts.emplace_back(fmt::format("the random number of step {}", step), std::to_string(drawn[0]));
  }
  for (const std::int64_t epoch : {0, 1})
    facts.emplace_back(fmt::format("the first sample of epoch {}", epoch),
                       std::to_string(data::shuffled_order(10'000, 42, epoch)[0]));
  try {
    team.check_agreement(facts);
  } catch (const Error& error) {
    return {error.what()};
  }
  return {{}, "the same on all ranks"};
}

// How often each sample of an epoch is used, over all ranks.
std::vector<std::int64_t> visits(const parallel::Team& team, std::int64_t samples, std::int64_t batch) {
  const data::RankBatches batches(data::shuffled_order(samples, 42, 0), {batch, false, team.size(), team.rank()});
  std::vector<std::int64_t> counts(static_cast<std::size_t>(samples));
  for (std::int64_t i = 0; i < batches.size(); ++i)
    for (const std::int64_t sample : batches[i]) ++counts[static_cast<std::size_t>(sample)];
  team.group().all_reduce(counts.data(), counts.size(), DType::i64)->wait();
  return counts;
}

CheckResult data_sharding(const parallel::Team& team) {
  constexpr std::int64_t kBatch = 3;
  const std::int64_t even = 5 * kBatch * team.size();
  const auto is_once = [](std::int64_t count) { return count == 1; };
  const auto is_met = [](std::int64_t count) { return count >= 1; };
  const auto exact = visits(team, even, kBatch), uneven = visits(team, even + 1, kBatch);
  if (!std::ranges::all_of(exact, is_once)) return {"a sample is missing or comes twice"};
  if (!std::ranges::all_of(uneven, is_met)) return {"a sample of the last batches is missing"};
  return {{}, fmt::format("each of {} samples exactly once", even)};
}

// The complaint of the lowest rank that has one; the same on every rank.
std::string complaint_of_all(const parallel::Team& team, const std::string& mine) {
  std::string first;
  const std::vector<std::string> complaints = team.gather(mine);
  for (std::size_t rank = 0; rank < complaints.size() && first.empty(); ++rank)
    if (!complaints[rank].empty()) first = fmt::format("rank {}: {}", rank, complaints[rank]);
  return team.broadcast(std::move(first));
}

}  // namespace

std::vector<std::string> check_world(const parallel::Team& team, Report& report) {
  std::vector<WorldCheck> checks{{"processes", processes}};
  std::ranges::move(collective_checks(), std::back_inserter(checks));
  checks.push_back({"random numbers", random_numbers});
  checks.push_back({"data sharding", data_sharding});
  std::ranges::move(team_training_checks(), std::back_inserter(checks));

  std::vector<std::string> failed;
  for (const WorldCheck& check : checks) {
    // Logged before the check: a process that dies in it cannot log afterwards.
    if (team.is_first()) log_info("checking {}", check.name);
    try {
      const CheckResult finding = check.run(team);
      const std::string complaint = complaint_of_all(team, finding.complaint);
      if (!complaint.empty()) failed.push_back(check.name);
      if (team.is_first())
        report.check_exact(check.name, complaint.empty(), complaint.empty() ? finding.detail : complaint);
    } catch (const Error& error) {  // the ranks cannot reach each other any more
      fail("the check of {} broke off: {}", check.name, error.what());
    }
  }
  return failed;
}

}  // namespace hearth::verify
