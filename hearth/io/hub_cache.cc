#include "hearth/io/hub_cache.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

namespace fs = std::filesystem;

// Where the Hub has moved models that once had no organisation. A '*' at the end stands for any ending.
struct Redirect {
  std::string_view pattern, organisation;

  bool matches(std::string_view name) const {
    if (!pattern.ends_with('*')) return name == pattern;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  }
};
constexpr std::array kRedirects{
    Redirect{"bert-base-*", "google-bert"},      Redirect{"bert-large-*", "google-bert"},
    Redirect{"distilbert-base-*", "distilbert"}, Redirect{"distilroberta-base", "distilbert"},
    Redirect{"roberta-base", "FacebookAI"},      Redirect{"roberta-large", "FacebookAI"},
    Redirect{"xlm-roberta-base", "FacebookAI"},  Redirect{"xlm-roberta-large", "FacebookAI"},
};

fs::path user_cache() {
  if (const std::string folder = environment("XDG_CACHE_HOME"); !folder.empty()) return folder;
  const std::string home = environment("HOME");
  return fs::path(home.empty() ? "." : home) / ".cache";
}

struct Hub {
  fs::path folder;
  bool default_of_hf;  // the command `hf` uses this folder without being told
};

Hub find_hub(const std::string& cache_dir) {
  if (!cache_dir.empty()) return {cache_dir, false};
  if (const std::string folder = environment("TRANSFORMERS_CACHE"); !folder.empty()) return {with_home(folder), false};
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (const std::string folder = environment(variable); !folder.empty()) return {with_home(folder), true};
  return {hugging_face_home() / "hub", true};
}

std::string without_space(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

// The name that the Hub has for it today.
std::string present_name(const std::string& name) {
  const auto found = std::ranges::find_if(kRedirects, [&](const Redirect& redirect) { return redirect.matches(name); });
  return found == kRedirects.end() ? name : fmt::format("{}/{}", found->organisation, name);
}

fs::path entry_of(const std::string& name) {
  std::string entry = "models--" + name;
  for (std::size_t slash; (slash = entry.find('/')) != std::string::npos;) entry.replace(slash, 1, "--");
  return entry;
}

// On the Hub a name is ORGANISATION/MODEL, or MODEL alone.
bool can_be_on_the_hub(const std::string& name) {
  return !name.empty() && !name.starts_with('.') && !name.starts_with('/') && !name.starts_with('~') &&
         !name.ends_with('/') && std::ranges::count(name, '/') <= 1;
}

std::string how_to_download(const std::string& name, const Hub& hub, const std::string& revision) {
  std::string command = "hf download " + name;
  if (revision != "main") command += " --revision " + revision;
  if (!hub.default_of_hf) command += " --cache-dir " + hub.folder.string();
  return fmt::format("download it with `{}`", command);
}

// Neither an absolute path nor ".." may lead out of the model's folder.
void check_stays_inside(const std::string& revision, const std::string& name) {
  const fs::path path(revision);
  const bool inside = !revision.empty() && !path.is_absolute() && std::ranges::find(path, "..") == path.end();
  check(inside, "'{}' is not a revision of {}: give a branch, a tag or a commit, such as main", revision, name);
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

fs::path find_model(const std::string& name, const std::string& cache_dir, const std::string& revision) {
  if (fs::is_directory(name)) return name;
  check(can_be_on_the_hub(name), "{} is not a folder: give the folder of a model, or a name in the local Hub cache",
        name);
  check_stays_inside(revision, name);
  const Hub hub = find_hub(cache_dir);
  const std::string chosen = fs::is_directory(hub.folder / entry_of(name)) ? name : present_name(name);
  const fs::path model = hub.folder / entry_of(chosen);
  const std::string advice = how_to_download(chosen, hub, revision);
  check(fs::is_directory(model), "{} is neither a folder nor a model in the local Hub cache {}: {}", name,
        hub.folder.string(), advice);
  const fs::path reference = model / "refs" / revision;
  const std::string commit = fs::is_regular_file(reference) ? without_space(read_file(reference)) : revision;
  check_stays_inside(commit, name);
  const fs::path snapshot = model / "snapshots" / commit;
  check(fs::is_directory(snapshot), "the Hub cache has {}, but not its revision {} ({} is not there): {}", name,
        revision, snapshot.string(), advice);
  return snapshot;
}

}  // namespace hearth::io
