#include "hearth/migrate/old_variables.h"

#include <algorithm>
#include <array>

#include "hearth/base/environment.h"

namespace hearth::migrate {
namespace {

struct Family {
  std::string_view prefix, reason;
};
constexpr std::array kFamilies{
    Family{"CUDA_", "Hearth trains on the CPU only"},
    Family{"NVIDIA_", "Hearth trains on the CPU only"},
    Family{"NCCL_", "Hearth trains on the CPU only"},
    Family{"IPEX_", "Hearth does not use IPEX"},
    Family{"TORCH", "Hearth does not use PyTorch"},
    Family{"PYTORCH_", "Hearth does not use PyTorch"},
    Family{"KMP_", "it belongs to Intel's OpenMP"},
    Family{"DNNL_", "HEARTH_MAX_ISA caps the instruction set"},
    Family{"ATEN_CPU_CAPABILITY", "HEARTH_MAX_ISA caps the instruction set"},
    Family{"TOKENIZERS_PARALLELISM", "all threads tokenize"},
    Family{"TRANSFORMERS_VERBOSITY", "--log_level chooses the messages"},
    Family{"WANDB_", "wandb is not implemented; --report_to html, jsonl and tensorboard are"},
};

}  // namespace

std::optional<std::string> why_without_effect(std::string_view name, std::string_view value) {
  if (name == "LD_PRELOAD" && value.find("iomp5") != value.npos)
    return "Hearth has compute threads of its own, and `hearth launch --memory_allocator` preloads another malloc";
  const auto known = std::ranges::find(environment_variables(), name, &EnvironmentVariable::name);
  const bool is_read =
      known != environment_variables().end() && known->meaning.find("no effect") == known->meaning.npos;
  if (is_read) return std::nullopt;
  const auto family = std::ranges::find_if(kFamilies, [&](const Family& f) { return name.starts_with(f.prefix); });
  return family == kFamilies.end() ? std::nullopt : std::optional(std::string(family->reason));
}

}  // namespace hearth::migrate
