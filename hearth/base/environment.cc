#include "hearth/base/environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "hearth/base/error.h"

namespace hearth {
namespace {

constexpr std::array kVariables{
    EnvironmentVariable{"HEARTH_MAX_ISA", "caps the instruction set, as --max_isa"},
    EnvironmentVariable{"HEARTH_CACHE", "where prepared data is kept; ~/.cache/hearth otherwise"},
    EnvironmentVariable{"OMP_NUM_THREADS", "the number of threads; one a core otherwise"},
    EnvironmentVariable{"HF_HUB_CACHE", "where models of the Hub lie; $HF_HOME/hub otherwise"},
    EnvironmentVariable{"HF_HOME", "~/.cache/huggingface otherwise"},
    EnvironmentVariable{"XDG_CACHE_HOME", "~/.cache otherwise"},
    EnvironmentVariable{"HOME", "the home folder"},
};

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::string environment(std::string_view name) {
  const auto found = std::ranges::find(kVariables, name, &EnvironmentVariable::name);
  check(found != kVariables.end(), "[environment] {} is not declared", name);
  const char* value = std::getenv(found->name);
  return value == nullptr ? "" : value;
}

}  // namespace hearth
