#include "hearth/optim/optimizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support.h"

namespace hearth::optim {
namespace {

std::string error_with(const std::string& name, const std::string& args) {
  return error_of([&] { with_defaults(parse_optimizer_args(args), optimizer_kind(name).args, name); });
}

TEST(Optimizers, HaveNamesOfTheirOwn) {
  const std::vector<std::string> names = optimizer_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names.front(), OptimizerOptions{}.name);
  for (const OptimizerKind& kind : optimizer_kinds())
    for (const std::string& name : kind.names) EXPECT_EQ(&optimizer_kind(name), &kind);
}

TEST(Optimizers, AreListedWhereOneIsNotKnown) {
  EXPECT_EQ(error_of([] { optimizer_kind("adamw_apex"); }),
            "the optimizer 'adamw_apex' is not known; choose one of adamw_torch, adamw_torch_fused, adamw_16bit, "
            "adamw_hf, sgd, adafactor, adagrad, rmsprop, lion_32bit, lion");
}

TEST(Optimizers, KnowWhetherTheyCanBeSharded) {
  EXPECT_TRUE(can_shard("lion"));
  EXPECT_FALSE(can_shard("adafactor"));
  check_can_shard("adagrad");
  EXPECT_EQ(error_of([] { check_can_shard("adafactor"); }),
            "--optim adafactor cannot be sharded: leave out --sharded_optimizer, or choose one of adamw_torch, "
            "adamw_16bit, adamw_hf, sgd, adagrad, rmsprop, lion_32bit");
}

TEST(Optimizers, DescribeTheirSettings) {
  EXPECT_EQ(optimizers_that_read("adam_beta1"), "adamw_torch, adamw_16bit, adamw_hf, lion_32bit");
  EXPECT_EQ(optimizers_that_read("adam_epsilon"), "adamw_torch, adamw_16bit, adamw_hf");
  EXPECT_TRUE(reads_setting("lion", "adam_beta2"));
  EXPECT_FALSE(reads_setting("rmsprop", "adam_epsilon"));
  EXPECT_EQ(describe_optimizer_args(),
            "sgd takes momentum; adagrad takes lr_decay, initial_accumulator_value, eps; rmsprop takes alpha, eps, "
            "momentum");
}

TEST(Optimizers, KnowHowManyBytesPerWeightTheyKeep) {
  ParameterStore parameters;
  parameters.add({{"weight", {8, 4}}});
  parameters.allocate();
  for (const std::string& name : optimizer_names())
    for (const char* args : {"", "momentum=0.5"}) {
      OptimizerOptions options;
      options.name = name;
      options.args = parse_optimizer_args(args);
      const std::vector<OptimizerArg>& known = optimizer_kind(name).args;
      if (!options.args.empty() && std::ranges::find(known, "momentum", &OptimizerArg::key) == known.end()) continue;
      std::size_t bytes = 0;
      for (const auto& [moment, values] : make_optimizer(options, parameters)->moments()) bytes += values.bytes();
      EXPECT_EQ(moment_bytes_per_weight(options) * parameters.size(), static_cast<std::int64_t>(bytes)) << name << args;
    }
}

TEST(OptimizerArgs, AreReadAsTheTrainerReadsThem) {
  EXPECT_TRUE(parse_optimizer_args("").empty());
  EXPECT_EQ(parse_optimizer_args("alpha=0.9, eps = 1e-6,alpha=0.5"), (OptimizerArgs{{"alpha", 0.5}, {"eps", 1e-6}}));
  EXPECT_EQ(error_of([] { parse_optimizer_args("momentum"); }),
            "--optim_args: 'momentum' is not key=value; write key=value,key=value");
  EXPECT_EQ(error_of([] { parse_optimizer_args("momentum=0.9,"); }),
            "--optim_args: '' is not key=value; write key=value,key=value");
  EXPECT_EQ(error_of([] { parse_optimizer_args("nesterov=True"); }),
            "--optim_args: nesterov must be a number, not 'True'; write key=value,key=value");
}

TEST(OptimizerArgs, AreThoseOfTheOptimizer) {
  EXPECT_EQ(error_with("rmsprop", "alpha=0.9,eps=0,momentum=0.5"), "");
  EXPECT_EQ(error_with("rmsprop", "beta=1"),
            "--optim_args: rmsprop has no setting 'beta'; it has alpha, eps, momentum");
  EXPECT_EQ(error_with("lion", "beta=1"), "--optim_args: lion has no setting 'beta'; it has none, leave it out");
  EXPECT_EQ(error_with("sgd", "momentum=1"), "--optim_args: momentum must be below 1, not 1");
  EXPECT_EQ(error_with("adagrad", "eps=-1"), "--optim_args: eps must be at least 0 and finite, not -1");
  EXPECT_EQ(error_with("adagrad", "eps=inf"), "--optim_args: eps must be at least 0 and finite, not inf");
}

TEST(OptimizerArgs, HaveDefaults) {
  EXPECT_EQ(with_defaults({{"eps", 1e-6}}, optimizer_kind("rmsprop").args, "rmsprop"),
            (OptimizerArgs{{"alpha", 0.99}, {"eps", 1e-6}, {"momentum", 0}}));
}

}  // namespace
}  // namespace hearth::optim
