#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "hearth/optim/optimizer.h"
#include "hearth/train/torch_groups.h"

// optimizer.pt: the state dict of an optimizer of PyTorch, as the Trainer saves it.
namespace hearth {

struct TorchOptimizer {
  std::map<std::string, Tensor, std::less<>> moments;  // "exp_avg.NAME", as Optimizer::State names them
  std::set<std::string, std::less<>> without_moments;  // names of parameters that no backward pass has reached
};

// Updates that the moments have seen; none if the file does not say, as that of SGD. Parameters that have seen
// different numbers of them are an Error.
std::optional<std::int64_t> torch_optimizer_steps(const std::filesystem::path& file);

// The moments under the names of the parameters. Groups that are not the Trainer's, and shapes that are not the
// model's, are an Error.
TorchOptimizer read_torch_optimizer(const std::filesystem::path& file, const ParameterStore& parameters);

struct TorchOptimizerSettings {
  optim::OptimizerOptions options;
  double initial_lr = 0, lr = 0;  // of the first update, and of the next one
  std::int64_t steps = 0;         // updates that the moments have seen
};
void check_torch_optimizer(std::string_view optim);  // an Error unless PyTorch or transformers has it
void write_torch_optimizer(const std::filesystem::path& file, const TorchGroups& groups,
                           const optim::Optimizer::State& state, const TorchOptimizerSettings& settings);

}  // namespace hearth
