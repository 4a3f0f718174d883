#include "hearth/optim/optimizers.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/optim/adafactor.h"
#include "hearth/optim/adagrad.h"
#include "hearth/optim/adamw.h"
#include "hearth/optim/adamw_16bit.h"
#include "hearth/optim/adamw_hf.h"
#include "hearth/optim/lion.h"
#include "hearth/optim/rmsprop.h"
#include "hearth/optim/sgd.h"

namespace hearth::optim {
namespace {

template <class Made>
std::unique_ptr<Optimizer> make(const OptimizerOptions& options, ParameterStore& parameters,
                                std::span<const Interval> own) {
  return std::make_unique<Made>(options, parameters, own);
}

template <class Made>
std::unique_ptr<Optimizer> make_whole(const OptimizerOptions& options, ParameterStore& parameters,
                                      std::span<const Interval>) {
  return std::make_unique<Made>(options, parameters);
}

bool contains(const std::vector<std::string>& items, std::string_view item) {
  return std::ranges::find(items, item) != items.end();
}

// The canonical names of the kinds that pass `test`.
template <class Test>
std::string names_where(const Test& test) {
  std::vector<std::string> names;
  for (const OptimizerKind& kind : optimizer_kinds())
    if (test(kind)) names.push_back(kind.names.front());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const std::vector<std::string> betas{"adam_beta1", "adam_beta2"};
  static const std::vector<std::string> betas_and_epsilon{"adam_beta1", "adam_beta2", "adam_epsilon"};
  static const std::vector<OptimizerKind> kinds{
      {{"adamw_torch", "adamw_torch_fused"}, betas_and_epsilon, {}, 8, true, make<AdamW>},
      {{"adamw_16bit"}, betas_and_epsilon, {}, 4, true, make<AdamW16Bit>},
      {{"adamw_hf"}, betas_and_epsilon, {}, 8, true, make<AdamWHf>},
      {{"sgd"}, {}, {{"momentum", 0, 1}}, 0, true, make<Sgd>},
      {{"adafactor"}, {}, {}, 0, false, make_whole<Adafactor>},
      {{"adagrad"}, {}, {{"lr_decay", 0}, {"initial_accumulator_value", 0}, {"eps", 1e-10}}, 4, true, make<Adagrad>},
      {{"rmsprop"}, {}, {{"alpha", 0.99, 1}, {"eps", 1e-8}, {"momentum", 0, 1}}, 4, true, make<RmsProp>},
      {{"lion_32bit", "lion"}, betas, {}, 4, true, make<Lion>},
  };
  return kinds;
}

const OptimizerKind& optimizer_kind(std::string_view name) {
  for (const OptimizerKind& kind : optimizer_kinds())
    if (contains(kind.names, name)) return kind;
  fail("the optimizer '{}' is not known; choose one of {}", name, fmt::join(optimizer_names(), ", "));
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerKind& kind : optimizer_kinds()) names.insert(names.end(), kind.names.begin(), kind.names.end());
  return names;
}

int moment_bytes_per_weight(const OptimizerOptions& options) {
  const auto momentum = options.args.find("momentum");
  const bool has_momentum = momentum != options.args.end() && momentum->second != 0;
  return optimizer_kind(options.name).moment_bytes + (has_momentum ? static_cast<int>(sizeof(float)) : 0);
}

bool can_shard(std::string_view name) { return optimizer_kind(name).can_shard; }

void check_can_shard(std::string_view name) {
  check(can_shard(name), "--optim {} cannot be sharded: leave out --sharded_optimizer, or choose one of {}", name,
        names_where([](const OptimizerKind& kind) { return kind.can_shard; }));
}

bool reads_setting(std::string_view name, std::string_view setting) {
  return contains(optimizer_kind(name).settings, setting);
}

std::string optimizers_that_read(std::string_view setting) {
  return names_where([&](const OptimizerKind& kind) { return contains(kind.settings, setting); });
}

std::string describe_optimizer_args() {
  std::vector<std::string> descriptions;
  for (const OptimizerKind& kind : optimizer_kinds()) {
    std::vector<std::string> keys;
    for (const OptimizerArg& arg : kind.args) keys.push_back(arg.key);
    if (!keys.empty()) descriptions.push_back(fmt::format("{} takes {}", kind.names.front(), fmt::join(keys, ", ")));
  }
  return fmt::format("{}", fmt::join(descriptions, "; "));
}

}  // namespace hearth::optim
