#include "hearth/comm/plugin_loader.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/version.h"
#include "hearth/base/whole_number.h"
#include "hearth/comm/plugin_files.h"
#include "hearth/comm/socket.h"

namespace hearth::comm {
namespace {

namespace fs = std::filesystem;

constexpr char kSeparator = '\x1f';  // between the items that a child process answers with

std::string missing(const PluginFile& plugin) {
  std::string looked_in;
  for (const fs::path& folder : plugin_folders())
    if (std::error_code none; fs::is_directory(folder, none))
      looked_in += (looked_in.empty() ? "" : ", ") + folder.string();
  std::string debian_package = "hearth-comm-" + plugin.name;
  std::ranges::replace(debian_package, '_', '-');
  return fmt::format(
      "{} is not {}: install {} if Hearth came as Debian packages; otherwise install {}, then `make build` builds it",
      plugin.file_name(), looked_in.empty() ? "there" : "in " + looked_in, debian_package, plugin.package);
}

// In words: the message of dlopen names symbols, or files without saying which package has them.
std::string why_not_loaded(const PluginFile& plugin, std::string_view loader_says) {
  const std::string file = plugin.path->string();
  const std::size_t absent = loader_says.find(": cannot open shared object file");
  if (absent != loader_says.npos)
    return fmt::format("{} needs {}, which is not there: install {}", file, loader_says.substr(0, absent),
                       plugin.package);
  const bool other_version =
      loader_says.find("symbol") != loader_says.npos || loader_says.find("version") != loader_says.npos;
  return fmt::format("{} {}: install {} and build it again with `make build`", file,
                     other_version ? "was built for another version of its library than the one here"
                                   : "is damaged or not made for this machine",
                     plugin.package);
}

// The table that the file exports; throws if the plug-in cannot be used.
const HearthCommPlugin& open_plugin(const PluginFile& plugin) {
  const std::string file = plugin.path->string();
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error("[comm] " + why_not_loaded(plugin, dlerror()));
  const auto entry = reinterpret_cast<HearthCommEntry>(dlsym(library, HEARTH_COMM_ENTRY));
  check(entry != nullptr, "[comm] {} is not a plug-in of Hearth: build it with `make build`", file);
  const HearthCommPlugin* const table = entry();
  check(table != nullptr, "[comm] {} cannot be used here", file);
  check(table->abi == HEARTH_COMM_ABI,
        "[comm] {} has version {} of the plug-in interface, and this program (hearth {}) needs version {}: build it "
        "again with `make build` in the sources of this program",
        file, table->abi, kVersion, HEARTH_COMM_ABI);
  return *table;
}

std::string refusal_of(const HearthCommPlugin& table, const World& world) {
  const char* const refusal = table.refusal == nullptr
                                  ? nullptr
                                  : table.refusal(std::string(name_of(world.launcher)).c_str(), world.several_hosts());
  return refusal == nullptr ? "" : refusal;
}

// Runs `work` in a child process and returns its text; empty if the child died.
template <class Work>
std::string text_of_child(Work work) {
  int ends[2];
  check(pipe(ends) == 0, "[comm] no pipe can be opened");
  const Socket reader(ends[0]);
  Socket writer(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = work();
    const ssize_t written = write(writer.descriptor(), text.data(), text.size());
    _exit(written < 0 ? 1 : 0);
  }
  writer = Socket();
  std::string text;
  char buffer[1024];
  for (ssize_t got = 0; (got = read(reader.descriptor(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  if (child > 0) waitpid(child, nullptr, 0);
  return text;
}

// The text up to the separator, which is taken off with it.
std::string next_item(std::string& text) {
  const std::size_t end = text.find(kSeparator);
  std::string item = text.substr(0, end);
  text.erase(0, end == text.npos ? end : end + 1);
  return item;
}

// Loads the plug-in in a child process, so that the libraries of several MPIs never meet in one process.
PluginInfo describe(const PluginFile& plugin, const World& world) {
  PluginInfo info;
  info.name = plugin.name;
  if (!plugin.path) {
    info.problem = missing(plugin);
    return info;
  }
  std::string answer = text_of_child([&]() -> std::string {
    try {
      const HearthCommPlugin& table = open_plugin(plugin);
      return fmt::format("{}{}{}{}{}", table.library, kSeparator, table.preference, kSeparator,
                         refusal_of(table, world));
    } catch (const std::exception& error) {
      return fmt::format("{}{}", kSeparator, error.what());
    }
  });
  if (answer.empty()) {
    info.problem = plugin.path->string() + " ends the process that loads it";
    return info;
  }
  info.library = next_item(answer);
  if (info.library.empty()) {
    info.problem = answer;
    return info;
  }
  info.preference = whole_number<int>(next_item(answer)).value_or(0);
  info.refusal = answer;
  return info;
}

PluginFile choose(const std::string& backend, Launcher launcher) {
  std::optional<PluginFile> first;
  for (const PluginFile& plugin : plugin_files()) {
    if (plugin.backend != backend) continue;
    if (plugin.serves(launcher)) return plugin;
    if (!first || (!first->path && plugin.path)) first = plugin;
  }
  check(first.has_value(), "[comm] there is no backend {}: choose one of {}", backend,
        fmt::join(backend_names(), ", "));
  return *first;
}

}  // namespace

std::vector<PluginInfo> describe_plugins(const World& world) {
  std::vector<PluginInfo> result;
  for (const PluginFile& plugin : plugin_files()) result.push_back(describe(plugin, world));
  return result;
}

std::string preferred_backend(const World& world) {
  const std::vector<PluginFile> files = plugin_files();
  std::string best = files.front().backend;  // if none is there, loading this one says what to install
  int highest = -1;
  for (const PluginFile& plugin : files) {
    if (!plugin.path || !plugin.serves(world.launcher)) continue;
    const PluginInfo info = describe(plugin, world);
    if (!info.problem.empty() && world.local_rank == 0)
      log_warning("{}; until then another backend is used", info.problem);
    if (!info.problem.empty() || !info.refusal.empty() || info.preference <= highest) continue;
    highest = info.preference;
    best = plugin.backend;
  }
  return best;
}

std::optional<fs::path> find_plugin(const std::string& backend, Launcher launcher) {
  return choose(backend, launcher).path;
}

const HearthCommPlugin& load_plugin(const std::string& backend, const World& world) {
  const PluginFile plugin = choose(backend, world.launcher);
  if (!plugin.path) throw Error("[comm] " + missing(plugin));
  const HearthCommPlugin& table = open_plugin(plugin);
  const std::string refusal = refusal_of(table, world);
  check(refusal.empty(), "[comm] --ddp_backend {} {}", backend, refusal);
  return table;
}

}  // namespace hearth::comm
