#include "hearth/comm/plugin_files.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "hearth/base/environment.h"
#include "hearth/comm/known_plugins.h"

namespace hearth::comm {
namespace {

namespace fs = std::filesystem;

using Paths = std::map<std::string, fs::path>;  // by the name of the plug-in

std::optional<std::string> plugin_name(const fs::path& file) {
  constexpr std::string_view kPrefix = "libhearth_comm_", kSuffix = ".so";
  const std::string name = file.filename().string();
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
}

// A file in an earlier folder hides those of the same name.
Paths list_folders() {
  Paths found;
  for (const fs::path& folder : plugin_folders()) {
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder, unreadable))
      if (const auto name = plugin_name(entry.path())) found.emplace(*name, entry.path());
  }
  return found;
}

// The folder of the file that this code is in: libhearth.so, or the program.
fs::path folder_of_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&plugin_folders), &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::path(info.dli_fname).parent_path();
}

PluginFile described(std::string name, std::string_view package) {
  PluginFile file{name, name, std::nullopt, std::string(package), std::nullopt};
  const std::size_t last = name.rfind('_');
  if (last == name.npos) return file;
  file.launcher = value_named<Launcher>(std::string_view(name).substr(last + 1));
  if (file.launcher) file.backend.resize(last);
  return file;
}

}  // namespace

std::vector<fs::path> plugin_folders() {
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
  result.push_back(folder_of_library() / "hearth");
  return result;
}

std::vector<PluginFile> plugin_files() {
  Paths found = list_folders();
  std::vector<PluginFile> files;
  for (const KnownPlugin& known : known_plugins()) {
    PluginFile& file = files.emplace_back(described(std::string(known.name), known.package));
    if (auto path = found.extract(file.name)) file.path = std::move(path.mapped());
  }
  for (const auto& [name, path] : found) files.emplace_back(described(name, "the library that it needs")).path = path;
  return files;
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const PluginFile& file : plugin_files())
    if (std::ranges::find(names, file.backend) == names.end()) names.push_back(file.backend);
  return names;
}

}  // namespace hearth::comm
