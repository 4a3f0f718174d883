#include "hearth/comm/plugin_loader.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "hearth/base/environment.h"
#include "hearth/base/error.h"
#include "hearth/base/version.h"
#include "hearth/comm/socket.h"

namespace hearth::comm {
namespace {

namespace fs = std::filesystem;

struct Known {
  std::string_view name, backend;
  std::string_view launcher;  // the launcher whose ranks only this plug-in can serve
  std::string_view package;
  int scope;  // of its symbols: Open MPI loads further parts of itself, which need them
};
constexpr std::array kKnown{
    Known{"gloo", "gloo", "", "the package libgloo-dev", RTLD_LOCAL},
    Known{"mpi_mpich", "mpi", "mpich", "the packages mpich and libmpich-dev", RTLD_LOCAL},
    Known{"mpi_intel", "mpi", "intel", "impi-devel==2021.16.2 and impi-rt==2021.16.2 with pip", RTLD_LOCAL},
    Known{"mpi_openmpi", "mpi", "openmpi", "the packages openmpi-bin and libopenmpi-dev", RTLD_GLOBAL},
    Known{"ccl", "ccl", "", "oneccl-cpu-devel==2021.16.2 with pip", RTLD_LOCAL},
};

std::string file_name(const Known& plugin) { return fmt::format("libhearth_comm_{}.so", plugin.name); }

std::vector<fs::path> folders() {
  std::vector<fs::path> result;
  const std::string given = environment("HEARTH_PLUGIN_PATH");
  for (std::size_t begin = 0; begin < given.size();) {
    const std::size_t end = std::min(given.find(':', begin), given.size());
    if (end > begin) result.emplace_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  std::error_code none;
  const fs::path root = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
  for (const char* library : {"lib", "lib64", "lib/x86_64-linux-gnu"}) result.push_back(root / library / "hearth");
  return result;
}

std::optional<fs::path> find_file(const Known& plugin) {
  for (const fs::path& folder : folders()) {
    std::error_code none;
    if (fs::exists(folder / file_name(plugin), none)) return folder / file_name(plugin);
  }
  return std::nullopt;
}

std::string missing(const Known& plugin) {
  std::string looked_in;
  for (const fs::path& folder : folders())
    if (std::error_code none; fs::is_directory(folder, none))
      looked_in += (looked_in.empty() ? "" : ", ") + folder.string();
  return fmt::format("{} is not {}: install {}, then `make build` builds it", file_name(plugin),
                     looked_in.empty() ? "there" : "in " + looked_in, plugin.package);
}

// In words: the message of dlopen names symbols, or files without saying which package has them.
std::string why_not_loaded(const Known& plugin, const fs::path& file, std::string_view loader_says) {
  const std::size_t absent = loader_says.find(": cannot open shared object file");
  if (absent != loader_says.npos)
    return fmt::format("{} needs {}, which is not there: install {}", file.string(), loader_says.substr(0, absent),
                       plugin.package);
  const bool other_version =
      loader_says.find("symbol") != loader_says.npos || loader_says.find("version") != loader_says.npos;
  return fmt::format("{} {}: install {} and build it again with `make build`", file.string(),
                     other_version ? "was built for another version of its library than the one here"
                                   : "is damaged or not made for this machine",
                     plugin.package);
}

// The table that the file exports; throws if the plug-in cannot be used.
const HearthCommPlugin& open_plugin(const Known& plugin, const fs::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | plugin.scope);
  if (library == nullptr) throw Error("[comm] " + why_not_loaded(plugin, file, dlerror()));
  const auto entry = reinterpret_cast<HearthCommEntry>(dlsym(library, HEARTH_COMM_ENTRY));
  check(entry != nullptr, "[comm] {} is not a plug-in of Hearth: build it with `make build`", file.string());
  const HearthCommPlugin* const table = entry();
  check(table != nullptr, "[comm] {} cannot be used here", file.string());
  check(table->abi == HEARTH_COMM_ABI,
        "[comm] {} has version {} of the plug-in interface, and this program (hearth {}) needs version {}: build it "
        "again with `make build` in the sources of this program",
        file.string(), table->abi, kVersion, HEARTH_COMM_ABI);
  return *table;
}

// Loads the plug-in in a child process, so that the libraries of several MPIs never meet in one process.
BackendInfo describe(const Known& plugin) {
  const std::string name(plugin.name);
  const auto file = find_file(plugin);
  if (!file) return {name, "", missing(plugin)};
  int ends[2];
  check(pipe(ends) == 0, "[comm] no pipe can be opened");
  const Socket reader(ends[0]);
  Socket writer(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    std::string answer;
    try {
      answer = std::string("+") + open_plugin(plugin, *file).library;
    } catch (const std::exception& error) {
      answer = std::string("-") + error.what();
    }
    const ssize_t written = write(writer.descriptor(), answer.data(), answer.size());
    _exit(written < 0 ? 1 : 0);
  }
  writer = Socket();
  std::string answer;
  char buffer[1024];
  for (ssize_t got = 0; (got = read(reader.descriptor(), buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  if (child > 0) waitpid(child, nullptr, 0);
  if (answer.starts_with('+')) return {name, answer.substr(1), ""};
  return {name, "", answer.empty() ? file->string() + " ends the process that loads it" : answer.substr(1)};
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Known& plugin : kKnown)
    if (std::ranges::find(names, plugin.backend) == names.end()) names.push_back(plugin.backend);
  return names;
}

const Known* choose(const std::string& backend, const std::string& launcher) {
  const Known* first = nullptr;
  for (const Known& plugin : kKnown) {
    if (plugin.backend != backend) continue;
    if (plugin.launcher == launcher) return &plugin;
    if (first == nullptr || (!find_file(*first) && find_file(plugin))) first = &plugin;
  }
  check(first != nullptr, "[comm] there is no backend {}: choose one of {}", backend, fmt::join(backend_names(), ", "));
  return first;
}

}  // namespace

std::vector<BackendInfo> backends() {
  std::vector<BackendInfo> result;
  for (const Known& plugin : kKnown) result.push_back(describe(plugin));
  return result;
}

std::optional<fs::path> find_plugin(const std::string& backend, const std::string& launcher) {
  return find_file(*choose(backend, launcher));
}

const HearthCommPlugin& load_plugin(const std::string& backend, const std::string& launcher) {
  const Known& plugin = *choose(backend, launcher);
  const auto file = find_file(plugin);
  if (!file) throw Error("[comm] " + missing(plugin));
  return open_plugin(plugin, *file);
}

}  // namespace hearth::comm
