#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <type_traits>

#include "hearth/cpu/memory.h"
#include "hearth/kernels/rows/elementwise.h"
#include "tests/parallel/toy_team.h"
#include "tests/support.h"

namespace hearth::parallel {
namespace {

const std::vector<std::int64_t> kSizes = {16, 64, 32, 5, 48, 1000};

optim::OptimizerOptions optimizer(const std::string& name) {
  optim::OptimizerOptions options;
  options.name = name;
  if (name == "sgd") options.args = {{"momentum", 0.9}};
  options.weight_decay = 0.1;
  return options;
}

DataParallelOptions sharded(bool on) {
  DataParallelOptions options;
  options.partition = {64, 256, on};
  return options;
}

double take_steps(ToyParameters& toy, Training& training, int steps) {
  DistributedDataParallel& ddp = training.ddp;
  double norm = 0;
  for (int step = 0; step < steps; ++step) {
    toy.store.zero_grad();
    Tape tape;
    const auto factor = static_cast<float>(ddp.team().rank() - 2 * training.optimizer.steps());
    const Var loss = toy.forward(tape, factor);
    ddp.start_backward(tape, loss, 0.1f, std::array{1.0, 0.5 * ddp.team().rank()});
    const std::span<const double> reports = ddp.finish();
    EXPECT_EQ(reports[0], ddp.team().size());
    norm = ddp.grad_norm();
    training.optimizer.step(0.01, 0.5f);
  }
  return norm;
}

std::vector<float> weights(const ToyParameters& toy) {
  const float* values = toy.store.master().data<float>();
  return {values, values + toy.store.size()};
}

std::map<std::string, std::vector<float>> copied(const optim::Optimizer::State& state) {
  std::map<std::string, std::vector<float>> copy;
  for (const auto& [name, tensor] : state) {
    std::vector<float>& values = copy[name];
    values.resize(static_cast<std::size_t>(tensor.size()));
    kernels::convert(tensor.type(), tensor.raw(), DType::f32, values.data(), tensor.size());
  }
  return copy;
}

struct Outcome {
  std::vector<float> weights;
  double norm = 0;
  std::map<std::string, std::vector<float>> state;
};

Outcome outcome_of(int ranks, const std::string& name, bool shard, bool shares_memory = false) {
  Outcome outcome;
  std::mutex mutex;
  const auto train = [&](const Team& team) {
    ToyParameters toy(kSizes);
    Training training(toy.store, optimizer(name), team, sharded(shard));
    const double norm = take_steps(toy, training, 5);
    const optim::Optimizer::State state = training.optimizer.state();
    const std::lock_guard lock(mutex);
    if (outcome.weights.empty()) outcome.weights = weights(toy);
    EXPECT_EQ(outcome.weights, weights(toy));  // the same bits on all ranks
    if (team.is_first()) {
      outcome.norm = norm;
      outcome.state = copied(state);
    } else if (shard) {
      EXPECT_TRUE(state.empty());
    }
  };
  run_team(ranks, train, shares_memory);
  return outcome;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6 * (1 + std::abs(a[i]))) << i;
}

TEST(DataParallel, ShardedEqualsUnsharded) {
  for (const char* name : {"adamw_torch", "sgd", "adagrad", "rmsprop", "lion"})
    for (const int ranks : {1, 2, 3, 4, 5}) {
      const Outcome whole = outcome_of(ranks, name, false), shards = outcome_of(ranks, name, true);
      expect_near(whole.weights, shards.weights);
      EXPECT_NEAR(whole.norm, shards.norm, 1e-9 * whole.norm);
      ASSERT_EQ(whole.state.size(), shards.state.size());
      EXPECT_FALSE(whole.state.empty());
      for (const auto& [key, values] : whole.state) expect_near(values, shards.state.at(key));
    }
}

TEST(DataParallel, SharedMemoryChangesNoBits) {
  for (const char* name : {"adamw_torch", "adamw_16bit", "sgd", "adafactor"})
    for (const int ranks : {2, 3, 5}) {
      const bool shard = std::string(name) != "adafactor";
      const Outcome sent = outcome_of(ranks, name, shard), shared = outcome_of(ranks, name, shard, true);
      EXPECT_EQ(sent.weights, shared.weights) << name;
      EXPECT_EQ(sent.norm, shared.norm) << name;
      EXPECT_EQ(sent.state, shared.state) << name;
    }
}

TEST(DataParallel, RanksThatShareMemoryHaveTheirWeightsOnce) {
  std::array<const float*, 3> first_weights{};
  const auto train = [&](const Team& team) {
    ToyParameters toy(kSizes);
    Training training(toy.store, optimizer("adamw_torch"), team, sharded(false));
    EXPECT_TRUE(training.ddp.partition().sharded());
    take_steps(toy, training, 2);
    first_weights[static_cast<std::size_t>(team.rank())] = toy[0].master.data<float>();
  };
  run_team(3, train, true);
  EXPECT_EQ(first_weights[0], first_weights[1]);
  EXPECT_EQ(first_weights[0], first_weights[2]);
}

// As a loop of one's own has it: gradients averaged on all ranks, and an optimizer of each rank.
TEST(DistributedDataParallel, SharedMemoryGivesEveryRankAllGradients) {
  const auto gradients_of = [](int ranks, bool shares_memory) {
    std::vector<std::vector<float>> gradients(static_cast<std::size_t>(ranks));
    const auto step = [&](const Team& team) {
      ToyParameters toy(kSizes);
      DistributedDataParallel ddp(toy.store, team, sharded(false));
      for (int pass = 0; pass < 2; ++pass) {
        toy.store.zero_grad();
        Tape tape;
        ddp.backward(toy.forward(tape, static_cast<float>(team.rank()) / 3), 0.7f);
      }
      const float* const values = toy.store.grad().data<float>();
      gradients[static_cast<std::size_t>(team.rank())] = {values, values + toy.store.size()};
    };
    run_team(ranks, step, shares_memory);
    return gradients;
  };
  for (const int ranks : {2, 4}) EXPECT_EQ(gradients_of(ranks, true), gradients_of(ranks, false));
}

TEST(DataParallel, AShardsStateIsSmaller) {
  std::mutex mutex;
  std::int64_t all = 0;
  run_team(4, [&](const Team& team) {
    ToyParameters toy(kSizes);
    const Partition partition(toy.store.size(), team.rank(), team.size(), sharded(true).partition);
    const auto own = optim::make_optimizer(optimizer("adamw_torch"), toy.store, partition.own());
    const std::lock_guard lock(mutex);
    for (const auto& [name, moments] : own->moments()) {
      EXPECT_LE(moments.size(), toy.store.size() / 2);
      all += moments.size();
    }
  });
  EXPECT_EQ(all, 2 * ToyParameters(kSizes).store.size());
}

TEST(DataParallel, StateOfAnyNumberOfRanksIsResumedByAnyOther) {
  for (const char* name : {"adamw_torch", "adamw_16bit"}) {
    std::map<std::string, std::vector<float>> saved;
    std::vector<float> saved_weights;
    run_team(2, [&](const Team& team) {
      ToyParameters toy(kSizes);
      Training training(toy.store, optimizer(name), team, sharded(true));
      take_steps(toy, training, 3);
      const auto state = training.optimizer.state();
      if (!team.is_first()) return;
      saved = copied(state);
      saved_weights = weights(toy);
    });
    const auto read = [&](const optim::Optimizer::State& state) {
      for (const auto& [array, tensor] : state)
        kernels::convert(DType::f32, saved.at(array).data(), tensor.type(), tensor.raw(), tensor.size());
    };
    for (const int ranks : {1, 3})
      for (const bool shard : {false, true})
        run_team(ranks, [&](const Team& team) {
          ToyParameters toy(kSizes);
          Training training(toy.store, optimizer(name), team, sharded(shard));
          ShardedOptimizer& resumed = training.optimizer;
          resumed.load_state(5, 3, [&](const optim::Optimizer::State& state) {
            EXPECT_TRUE(team.is_first());  // and sends to the others
            read(state);
          });
          EXPECT_EQ(resumed.steps(), 5);
          EXPECT_EQ(resumed.moment_steps(), 3);
          const auto state = resumed.state();
          if (team.is_first()) {
            EXPECT_EQ(copied(state), saved);
          }
        });
  }
}

// AdamW's first update is as large as the learning rate; moments that start again at zero count their updates from 1,
// however many updates came before.
TEST(DataParallel, MomentsThatBeginAnewMakeAFirstUpdate) {
  constexpr std::int64_t kEarlier = 5000;
  ToyParameters toy(kSizes), anew(kSizes);
  optim::OptimizerOptions options;
  Training first(toy.store, options), resumed(anew.store, options);
  resumed.optimizer.start_anew(kEarlier);
  for (const auto& [parameters, training] : {std::pair(&toy, &first), std::pair(&anew, &resumed)}) {
    parameters->store.zero_grad();
    Tape tape;
    const Var loss = parameters->forward(tape, 1);
    training->ddp.start_backward(tape, loss, 1, {});
    training->ddp.finish();
    training->optimizer.step(0.01, 1);
  }
  EXPECT_EQ(weights(anew), weights(toy));
  EXPECT_EQ(resumed.optimizer.steps(), kEarlier + 1);
  EXPECT_EQ(resumed.optimizer.moment_steps(), 1);
}

// The reducer refers to the partition beside it.
using Ddp = DistributedDataParallel;
static_assert(!std::is_copy_constructible_v<Ddp> && !std::is_copy_assignable_v<Ddp>);
static_assert(!std::is_move_constructible_v<Ddp> && !std::is_move_assignable_v<Ddp>);

// To the other ranks a model with frozen parameters is one without them.
TEST(DataParallel, FrozenParametersStayWhereTheyAre) {
  const std::vector<std::int64_t> trained = {16, 64, 5}, all = {48, 16, 64, 1000, 5};
  const std::set<std::string> frozen{"w0", "w3"};
  for (const bool shard : {false, true}) {
    std::vector<std::vector<float>> others(2);
    run_team(2, [&](const Team& team) {
      ToyParameters small(trained), whole(all, frozen);
      EXPECT_EQ(whole.store.size(), small.store.size());
      Training without(small.store, optimizer("adamw_torch"), team, sharded(shard));
      Training with(whole.store, optimizer("adamw_torch"), team, sharded(shard));
      take_steps(small, without, 3);
      take_steps(whole, with, 3);
      EXPECT_EQ(with.ddp.reducer().launched_bytes(), static_cast<std::size_t>(whole.store.size()) * sizeof(float));
      EXPECT_EQ(with.ddp.reducer().launched_bytes(), without.ddp.reducer().launched_bytes());
      for (const std::size_t k : {0, 3}) {
        EXPECT_FALSE(whole[k].grad.defined());
        for (std::int64_t i = 0; i < whole[k].master.size(); ++i) EXPECT_EQ(whole[k].master.data<float>()[i], 0.5f);
      }
      const auto state = with.optimizer.state();
      if (team.is_first()) {
        EXPECT_EQ(copied(state).size(), 2 * trained.size());
        for (const auto& [name, values] : copied(state)) EXPECT_FALSE(name.ends_with("w0") || name.ends_with("w3"));
      }
      others[static_cast<std::size_t>(team.rank())] = weights(whole);
    });
    EXPECT_EQ(others[0], others[1]);
    EXPECT_NE(others[0], weights(ToyParameters(all, frozen)));
  }
}

TEST(DataParallel, AdafactorIsNotSharded) {
  run_team(2, [](const Team& team) {
    ToyParameters toy(kSizes);
    EXPECT_TRUE(contains(error_of([&] { Training(toy.store, optimizer("adafactor"), team, sharded(true)); }),
                         "adafactor cannot be sharded"));
  });
}

}  // namespace
}  // namespace hearth::parallel
