#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/base/text_layout.h"
#include "hearth/io/json.h"
#include "hearth/launch/config/config_dialogue.h"
#include "hearth/launch/config/launch_config.h"
#include "hearth/launch/config/launch_keys.h"

namespace hearth::apps {
namespace {

enum class Action { create, write_default, update, show };
constexpr std::array<std::string_view, 4> names_of(Action) { return {"create", "default", "update", "show"}; }

int create(const std::filesystem::path& file) {
  launch::Terminal terminal(STDIN_FILENO, STDOUT_FILENO);
  launch::write_launch_config(launch::ask_launch_config(terminal), file);
  fmt::print("hearth configuration saved at {}\n", file.string());
  return 0;
}

int create_default(const std::filesystem::path& file, const std::string& mixed_precision) {
  check(!std::filesystem::exists(file),
        "there is already a configuration at {}: remove the file, run `hearth config` instead, or name another file "
        "with --config_file",
        file.string());
  launch::LaunchConfig config;
  config.use_cpu = true;
  config.mixed_precision = mixed_precision;
  launch::write_launch_config(config, file);
  fmt::print("hearth configuration saved at {}\n", file.string());
  return 0;
}

int update(const std::filesystem::path& file) {
  launch::write_launch_config(launch::read_launch_config(file), file);
  fmt::print("Successfully updated the configuration file at {}.\n", file.string());
  return 0;
}

std::string_view meaning_of(std::string_view key) {
  launch::LaunchConfig any;
  const auto keys = launch::launch_keys(any);
  const auto known = std::ranges::find(keys, key, &launch::LaunchKey::name);
  if (known != keys.end()) return known->meaning;
  return key == "compute_environment" ? "this machine, and those that it reaches" : "no effect: for TPUs";
}

void print_settings(const io::Json& settings, std::string_view indent) {
  for (const auto& [key, value] : std::map<std::string, io::Json>(settings)) {
    if (value.is_object()) {
      fmt::print("{}{}:\n", indent, key);
      print_settings(value, "  ");
    } else {
      const std::string text = printable(value.is_string() ? value.get<std::string>() : value.dump());
      fmt::print("{:<52}# {}\n", fmt::format("{}{}: {}", indent, key, text), meaning_of(key));
    }
  }
}

int show(const std::filesystem::path& file) {
  const launch::LaunchConfig config = launch::read_launch_config(file);
  fmt::print("{}:\n\n", file.string());
  print_settings(launch::launch_config_json(config), "");
  return 0;
}

}  // namespace

int config(std::span<const std::string> words) {
  Action action = Action::create;
  std::string mixed_precision = "no", file = launch::default_config_path();
  Arguments arguments(
      "hearth config",
      "Asks how to train and writes the answers to the file that `hearth launch` reads, in Accelerate's format.\n"
      "`config default` writes the file without questions, `config update` rewrites an old file in the current "
      "format, `config show` explains each setting.");
  arguments.positional("ACTION", choice(&action), "what to do");
  arguments.add("config_file", &file, "configuration file, .yaml or .json");
  arguments.add("mixed_precision", &mixed_precision, "mixed precision for `config default`")
      .choices({"no", "fp16", "bf16"});
  arguments.examples({"hearth config", "hearth config default --mixed_precision bf16", "hearth config show"});
  if (!parse_or_print_help(arguments, words)) return 0;
  switch (action) {
    case Action::create:
      break;
    case Action::write_default:
      return create_default(file, mixed_precision);
    case Action::update:
      return update(file);
    case Action::show:
      return show(file);
  }
  return create(file);
}

}  // namespace hearth::apps
