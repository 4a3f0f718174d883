#include "hearth/train/changed_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "hearth/io/json.h"
#include "hearth/train/program_flags.h"

namespace hearth {
namespace {

constexpr std::array<std::string_view, 3> kReportingSections{"Logging", "Evaluation", "Saving"};
constexpr std::array<std::string_view, 7> kOtherFlags{
    "do_train",
    "do_eval",
    "do_predict",
    "ddp_backend",
    "ddp_timeout",
    "save_on_each_node",
    "per_device_train_batch_size"};  // the last is a setting of the trainer's state

// Folders, or names on the Hub.
constexpr std::array<std::string_view, 3> kModelFlags{"model_name_or_path", "config_name", "tokenizer_name"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_same_model(const io::Json& before, const io::Json& now) {
  if (before == now || !before.is_string() || !now.is_string()) return before == now;
  const std::filesystem::path first = before.get<std::string>(), second = now.get<std::string>();
  return std::filesystem::exists(first) && std::filesystem::exists(second) &&
         std::filesystem::weakly_canonical(first) == std::filesystem::weakly_canonical(second);
}

template <class Value>
std::string change(std::string_view name, const Value& before, const Value& after) {
  return fmt::format("{} {} -> {}", name, before, after);
}

}  // namespace

std::vector<std::string> changed_settings(const TrainerState& stored, const TrainerState& now) {
  std::vector<std::string> changes;
  const auto compare = [&](std::string_view name, std::int64_t before, std::int64_t after) {
    if (before != 0 && before != after) changes.push_back(change(name, before, after));
  };
  compare("train_batch_size", stored.train_batch_size, now.train_batch_size);
  compare("world_size", stored.world_size, now.world_size);
  compare("logging_steps", stored.logging_steps, now.logging_steps);
  compare("eval_steps", stored.eval_steps, now.eval_steps);
  compare("save_steps", stored.save_steps, now.save_steps);
  if (!stored.train_data.empty() && stored.train_data != now.train_data)
    changes.push_back(change("training data", stored.train_data, now.train_data));
  return changes;
}

std::vector<std::string> changed_flags(const io::Json& stored, std::span<const Arguments::Resolved> now) {
  std::vector<std::string> changes;
  const io::Json values = to_json(now);
  for (const Arguments::Resolved& flag : now) {
    const bool is_model = is_among(kModelFlags, flag.name);
    if ((flag.per_process && !is_model) || is_among(kReportingSections, flag.section) ||
        is_among(kOtherFlags, flag.name))
      continue;
    const auto before = stored.find(flag.name);
    if (before == stored.end()) continue;
    if (is_model ? !is_same_model(*before, values[flag.name]) : *before != values[flag.name])
      changes.push_back(change(flag.name, io::excerpt(*before), io::excerpt(values[flag.name])));
  }
  return changes;
}

}  // namespace hearth
