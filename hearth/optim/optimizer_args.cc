#include "hearth/optim/optimizer_args.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/split.h"

namespace hearth::optim {
namespace {

double number_of(std::string_view text, std::string_view key) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc{} && end == text.data() + text.size(),
        "--optim_args: {} must be a number, not '{}'; write key=value,key=value", key, text);
  return number;
}

void check_key(std::string_view key, const std::vector<OptimizerArg>& known, std::string_view optimizer) {
  std::vector<std::string> keys;
  for (const OptimizerArg& arg : known) keys.push_back(arg.key);
  check(std::ranges::find(keys, key) != keys.end(), "--optim_args: {} has no setting '{}'; {}", optimizer, key,
        keys.empty() ? "it has none, leave it out" : fmt::format("it has {}", fmt::join(keys, ", ")));
}

void check_value(const OptimizerArg& arg, double value) {
  check(value >= 0 && std::isfinite(value), "--optim_args: {} must be at least 0 and finite, not {}", arg.key, value);
  check(arg.below == 0 || value < arg.below, "--optim_args: {} must be below {}, not {}", arg.key, arg.below, value);
}

}  // namespace

OptimizerArgs parse_optimizer_args(std::string_view text) {
  std::string given(text);
  std::erase(given, ' ');
  OptimizerArgs args;
  if (given.empty()) return args;
  for (const std::string& entry : split(given, ',')) {
    const std::size_t equals = entry.find('=');
    check(equals != entry.npos && equals > 0, "--optim_args: '{}' is not key=value; write key=value,key=value", entry);
    const std::string key = entry.substr(0, equals);
    args[key] = number_of(entry.substr(equals + 1), key);
  }
  return args;
}

OptimizerArgs with_defaults(const OptimizerArgs& given, const std::vector<OptimizerArg>& known,
                            std::string_view optimizer) {
  for (const auto& [key, value] : given) check_key(key, known, optimizer);
  OptimizerArgs args = given;
  for (const OptimizerArg& arg : known) {
    args.try_emplace(arg.key, arg.value);
    check_value(arg, args.at(arg.key));
  }
  return args;
}

}  // namespace hearth::optim
