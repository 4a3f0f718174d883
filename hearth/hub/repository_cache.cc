#include "hearth/hub/repository_cache.h"

#include <algorithm>
#include <cctype>

#include "hearth/base/check.h"
#include "hearth/base/split.h"
#include "hearth/io/file.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;

std::string without_space(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

void check_etag(const std::string& etag, const Repository& repository) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  check(!etag.empty() && etag.size() <= 128 && std::ranges::all_of(etag, allowed),
        "the server gives a file of {} the ETag '{}', which cannot name a file in the cache: nothing was downloaded",
        repository.text(), etag);
}

}  // namespace

RepositoryCache::RepositoryCache(const fs::path& root, Repository repository)
    : root_(root), folder_(root / repository.cache_entry()), repository_(std::move(repository)) {}

std::optional<std::string> RepositoryCache::commit_of(const std::string& revision) const {
  check_revision(revision, repository_);
  const fs::path ref = folder_ / "refs" / revision;
  std::string commit = fs::is_regular_file(ref) ? without_space(io::read_file(ref)) : revision;
  check_revision(commit, repository_);
  if (!fs::is_directory(snapshot(commit))) return std::nullopt;
  return commit;
}

void RepositoryCache::store_ref(const std::string& revision, const std::string& commit) const {
  if (revision == commit) return;
  const fs::path ref = folder_ / "refs" / revision;
  io::create_directories(ref.parent_path());
  if (!fs::exists(ref) || io::read_file(ref) != commit) io::replace_file(ref, commit);
}

bool RepositoryCache::has(const std::string& commit, std::string_view name) const {
  return fs::is_regular_file(file(commit, name));  // of the blob, behind the link
}

std::vector<std::string> RepositoryCache::cached_files(const std::string& commit) const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(snapshot(commit), ignored))
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(snapshot(commit)).generic_string());
  std::ranges::sort(names);
  return names;
}

std::optional<std::vector<std::string>> RepositoryCache::listing(const std::string& commit) const {
  const fs::path file = folder_ / ".files" / commit;
  if (!fs::is_regular_file(file)) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& line : split(io::read_file(file), '\n'))
    if (!line.empty()) check_file_name(names.emplace_back(line), repository_);
  return names;
}

void RepositoryCache::store_listing(const std::string& commit, const std::vector<std::string>& files) const {
  std::string text;
  for (const std::string& name : files) text += name + "\n";
  io::create_directories(snapshot(commit));  // even if nothing of it was needed: it stands for the commit
  io::create_directories(folder_ / ".files");
  io::replace_file(folder_ / ".files" / commit, text);
}

void RepositoryCache::store_absent(const std::string& commit, std::string_view name) const {
  const fs::path mark = folder_ / ".no_exist" / commit / name;
  if (fs::exists(mark)) return;
  io::create_directories(mark.parent_path());
  io::replace_file(mark, "");
}

fs::path RepositoryCache::blob(const std::string& etag) const {
  check_etag(etag, repository_);
  return folder_ / "blobs" / etag;
}

fs::path RepositoryCache::lock(const std::string& etag) const {
  check_etag(etag, repository_);
  return root_ / ".locks" / repository_.cache_entry() / (etag + ".lock");
}

void RepositoryCache::link(const std::string& commit, std::string_view name, const std::string& etag) const {
  const fs::path pointer = file(commit, name), target = blob(etag);
  io::create_directories(pointer.parent_path());
  std::error_code error;
  fs::remove(pointer, error);  // a link whose blob was removed
  fs::create_symlink(target.lexically_relative(pointer.parent_path()), pointer, error);
  if (error && !fs::is_regular_file(pointer)) fs::rename(target, pointer, error);  // the file system has no links
  check(!error, "Cannot write {}: {}", pointer.string(), error.message());
}

RepositoryCache find_cache(const fs::path& root, const Repository& repository) {
  RepositoryCache cache(root, repository);
  return cache.exists() ? cache : RepositoryCache(root, {repository.kind, present_name(repository)});
}

}  // namespace hearth::hub
