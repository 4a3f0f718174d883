#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

// A row of the table of optimizers.
struct OptimizerKind {
  std::vector<std::string> names;     // of --optim; the first one is canonical
  std::vector<std::string> settings;  // flags of the Trainer that it reads, beside learning_rate and weight_decay
  std::vector<OptimizerArg> args;     // what it takes in --optim_args
  int moment_bytes = 0;               // that it keeps per weight, without those of a momentum in `args`
  bool can_shard = true;              // whether it can update only a part of the weights
  // `options.args` has a value for each of `args`.
  std::unique_ptr<Optimizer> (*make)(const OptimizerOptions& options, ParameterStore& parameters,
                                     std::span<const Interval> own) = nullptr;
};

const std::vector<OptimizerKind>& optimizer_kinds();
// The row that has `name`; an Error that lists the names if there is none.
const OptimizerKind& optimizer_kind(std::string_view name);

// All names, canonical or not.
std::vector<std::string> optimizer_names();

// Bytes of moments that the optimizer keeps per trainable weight. Adafactor's sums of rows and columns count as none.
int moment_bytes_per_weight(const OptimizerOptions& options);

bool can_shard(std::string_view name);
// An Error that lists the optimizers that can be sharded, if this one cannot.
void check_can_shard(std::string_view name);

bool reads_setting(std::string_view name, std::string_view setting);
// The canonical names of the optimizers that read a setting, for help texts: "sgd, lion".
std::string optimizers_that_read(std::string_view setting);
// The keys of --optim_args, for help texts: "sgd takes momentum; ...".
std::string describe_optimizer_args();

}  // namespace hearth::optim
