#include "hearth/io/hub_cache.h"

#include <cctype>

#include "hearth/base/environment.h"
#include "hearth/base/error.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

std::filesystem::path user_cache() {
  if (const std::string folder = environment("XDG_CACHE_HOME"); !folder.empty()) return folder;
  const std::string home = environment("HOME");
  return std::filesystem::path(home.empty() ? "." : home) / ".cache";
}

std::filesystem::path hub_folder(const std::string& cache_dir) {
  if (!cache_dir.empty()) return cache_dir;
  if (const std::string folder = environment("HF_HUB_CACHE"); !folder.empty()) return folder;
  return hugging_face_home() / "hub";
}

std::string without_space(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

}  // namespace

std::filesystem::path cache_folder() {
  const std::string folder = environment("HEARTH_CACHE");
  return folder.empty() ? user_cache() / "hearth" : std::filesystem::path(folder);
}

std::filesystem::path hugging_face_home() {
  const std::string folder = environment("HF_HOME");
  return folder.empty() ? user_cache() / "huggingface" : std::filesystem::path(folder);
}

std::filesystem::path find_model(const std::string& name, const std::string& cache_dir, const std::string& revision) {
  if (std::filesystem::is_directory(name)) return name;
  std::string entry = "models--" + name;
  for (std::size_t slash; (slash = entry.find('/')) != std::string::npos;) entry.replace(slash, 1, "--");
  const std::filesystem::path hub = hub_folder(cache_dir), model = hub / entry;
  check(std::filesystem::is_directory(model), "{} is neither a folder nor a model in the local Hub cache {}", name,
        hub.string());
  const std::filesystem::path reference = model / "refs" / revision;
  const std::string commit = std::filesystem::exists(reference) ? without_space(read_file(reference)) : revision;
  const std::filesystem::path snapshot = model / "snapshots" / commit;
  check(std::filesystem::is_directory(snapshot), "the Hub cache has {}, but not its revision {} ({} is not there)",
        name, revision, snapshot.string());
  return snapshot;
}

}  // namespace hearth::io
