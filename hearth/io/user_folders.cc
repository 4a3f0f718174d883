#include "hearth/io/user_folders.h"

#include "hearth/base/environment.h"

namespace hearth::io {
namespace {

namespace fs = std::filesystem;

fs::path user_cache() {
  if (const std::string folder = environment("XDG_CACHE_HOME"); !folder.empty()) return folder;
  const std::string home = environment("HOME");
  return fs::path(home.empty() ? "." : home) / ".cache";
}

}  // namespace

fs::path cache_folder() {
  const std::string folder = environment("HEARTH_CACHE");
  return folder.empty() ? user_cache() / "hearth" : fs::path(folder);
}

fs::path hugging_face_home() {
  const std::string folder = environment("HF_HOME");
  return folder.empty() ? user_cache() / "huggingface" : fs::path(with_home(folder));
}

}  // namespace hearth::io
