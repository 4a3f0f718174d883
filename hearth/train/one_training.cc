#include "hearth/train/one_training.h"

#include <mutex>
#include <set>

#include "hearth/base/check.h"

namespace hearth {
namespace {

// Of the job that this process trains in.
std::mutex mutex;
std::set<int> ranks;
int world_size = 0;

}  // namespace

OneTraining::OneTraining(const parallel::Team& team) : rank_(team.rank()) {
  const std::lock_guard lock(mutex);
  check(ranks.empty() || (world_size == team.size() && !ranks.contains(rank_)),
        "[Trainer::train] another Trainer is training in this process: wait until it has ended, or train in a "
        "process of its own");
  world_size = team.size();
  ranks.insert(rank_);
}

OneTraining::~OneTraining() {
  const std::lock_guard lock(mutex);
  ranks.erase(rank_);
}

}  // namespace hearth
