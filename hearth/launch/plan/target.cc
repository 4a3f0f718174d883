#include "hearth/launch/plan/target.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/json.h"
#include "hearth/io/option_file.h"

namespace hearth::launch {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> value_of(const std::vector<std::string>& words, std::string_view flag) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i].substr(0, words[i].find('='));
    std::ranges::replace(name, '-', '_');
    if (name.size() < 4 || !flag.starts_with(name)) continue;  // also abbreviated
    if (name.size() < words[i].size()) {
      value = words[i].substr(name.size() + 1);
    } else if (i + 1 < words.size()) {
      value = words[i + 1];
    }
  }
  return value;
}

// Options may stand in a file, which is the first word after the command.
std::optional<std::string> output_dir_of_file(const std::vector<std::string>& command) {
  if (command.size() < 3 || !io::is_option_file(command[2])) return std::nullopt;
  const io::Json options = io::read_option_file(command[2]);
  if (!options.contains("output_dir")) return std::nullopt;
  return io::get_string(options, "output_dir", command[2]);
}

std::int64_t seconds_of(const fs::path& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<std::int64_t>(facts.st_mtime) : 0;
}

bool has_checkpoint(const fs::path& folder, std::int64_t since) {
  return std::ranges::any_of(io::list_checkpoints(folder),
                             [&](const fs::path& checkpoint) { return seconds_of(checkpoint) >= since; });
}

}  // namespace

std::string own_program() { return fs::read_symlink("/proc/self/exe").string(); }

std::vector<std::string> target_command(const LaunchOptions& options, std::span<const std::string> commands) {
  std::vector<std::string> words;
  const bool is_script = options.target.ends_with(".py");
  check(!options.module || !options.no_python, "--module and --no_python contradict each other: a module needs Python");
  if (options.module) {
    words = {"python3", "-u", "-m"};
  } else if (options.no_python) {
    words = {};
  } else if (std::ranges::find(commands, options.target) != commands.end()) {
    check(options.target != "launch", "'hearth launch launch' starts nothing: name a command, a script or a program");
    words = {own_program()};
  } else if (is_script) {
    check(fs::exists(options.target), "there is no script {}", options.target);
    words = {"python3", "-u"};
  }
  words.push_back(options.target);
  words.insert(words.end(), options.target_arguments.begin(), options.target_arguments.end());
  return words;
}

std::vector<std::string> resumed(std::vector<std::string> command, std::int64_t started) {
  if (command.size() < 2 || command[0] != own_program() || !command[1].starts_with("run_")) return command;
  auto folder = value_of(command, "__output_dir");
  if (!folder) folder = output_dir_of_file(command);
  // True lets the run itself choose: the last checkpoint that is not damaged.
  if (folder && has_checkpoint(with_home(*folder), started))
    command.insert(command.end(), {"--resume_from_checkpoint", "True"});
  return command;
}

}  // namespace hearth::launch
