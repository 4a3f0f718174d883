#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::optim {

// The Trainer's --optim_args: what an optimizer takes beyond the settings that all optimizers have.
using OptimizerArgs = std::map<std::string, double>;

// A key that an optimizer takes, with its default. Values are at least 0.
struct OptimizerArg {
  std::string key;
  double value = 0;
  double below = 0;  // 0: no limit
};

// Reads "key=value,key=value" as the Trainer does: spaces do not count, the last of equal keys does.
HEARTH_API OptimizerArgs parse_optimizer_args(std::string_view text);

// A value for each of `known`: the given one or the default. An Error if a given key or value is not allowed;
// `optimizer` is for the message.
HEARTH_API OptimizerArgs with_defaults(const OptimizerArgs& given, const std::vector<OptimizerArg>& known,
                                       std::string_view optimizer);

}  // namespace hearth::optim
