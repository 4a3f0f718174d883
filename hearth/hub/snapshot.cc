#include "hearth/hub/snapshot.h"

#include <algorithm>
#include <optional>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/hub/client.h"
#include "hearth/hub/download.h"
#include "hearth/hub/repository_cache.h"

namespace hearth::hub {
namespace {

// The snapshot, if the cache alone says that nothing is missing.
std::optional<Snapshot> whole_in_cache(const RepositoryCache& cache, const std::string& commit,
                                       const Selection& selection) {
  if (const auto files = cache.listing(commit)) {
    const Selection::Names chosen = selection.choose(*files);
    if (!std::ranges::all_of(chosen, [&](const std::string& file) { return cache.has(commit, file); })) return {};
    return Snapshot{commit, cache.snapshot(commit), *files};
  }
  Selection::Names cached = cache.cached_files(commit);
  if (!selection.is_enough(cached)) return {};
  return Snapshot{commit, cache.snapshot(commit), std::move(cached)};
}

// The snapshot where the Hub cannot be asked: of a commit whose files nothing lists, what is there has to do.
std::optional<Snapshot> without_hub(const RepositoryCache& cache, const std::string& revision,
                                    const Selection& selection) {
  const std::optional<std::string> commit = cache.commit_of(revision);
  if (!commit) return std::nullopt;
  if (cache.listing(*commit)) return whole_in_cache(cache, *commit, selection);
  return Snapshot{*commit, cache.snapshot(*commit), cache.cached_files(*commit)};
}

Snapshot from_hub(const RepositoryCache& cache, const std::string& revision, const Selection& selection,
                  const Access& access) {
  Client client(token_of(access));
  const Client::Contents contents = client.contents(cache.repository(), revision);
  const Selection::Names chosen = selection.choose(contents.files);
  download(client, cache, contents.commit, chosen, access.quiet);
  for (const std::string& file : selection.expected)
    if (std::ranges::find(contents.files, file) == contents.files.end()) cache.store_absent(contents.commit, file);
  cache.store_listing(contents.commit, contents.files);
  cache.store_ref(revision, contents.commit);  // last: it makes the snapshot the one to use
  return {contents.commit, cache.snapshot(contents.commit), contents.files};
}

// The command that fills the folder that was looked at.
std::string download_command(const Repository& repository, const std::string& revision, const Access& access) {
  std::string command = "hearth download " + repository.name;
  if (repository.kind == Repository::Kind::dataset) command += " --repo_type dataset";
  if (revision != kMainRevision) command += " --revision " + revision;
  if (!access.cache_dir.empty()) command += " --cache_dir " + access.cache_dir;
  return command;
}

[[noreturn]] void fail_offline(const RepositoryCache& cache, const std::string& revision, const Access& access) {
  const Repository& repository = cache.repository();
  const std::string other = revision == kMainRevision ? "" : fmt::format(" with revision {}", revision);
  fail(
      "{} is neither a folder nor a {} in the cache {}{}, and {} forbids to download it: unset the variable, or run "
      "`{}` where there is a network",
      repository.name, repository.kind == Repository::Kind::model ? "model" : "data set", cache.root().string(), other,
      offline_variable(repository.kind), download_command(repository, revision, access));
}

}  // namespace

Snapshot update_snapshot(const Repository& repository, const std::string& revision, const Selection& selection,
                         const Access& access) {
  const RepositoryCache cache = find_cache(cache_root(access, repository.kind), repository);
  if (!offline_variable(repository.kind).empty()) {
    if (std::optional<Snapshot> cached = without_hub(cache, revision, selection)) return *cached;
    fail_offline(cache, revision, access);
  }
  try {
    return from_hub(cache, revision, selection, access);
  } catch (const NetworkError& error) {
    std::optional<Snapshot> cached = without_hub(cache, revision, selection);
    if (!cached) throw;
    log_warning("{}; using {} as it is in the cache", error.what(), repository.text());
    return *cached;
  }
}

Snapshot get_snapshot(const Repository& repository, const std::string& revision, const Selection& selection,
                      const Access& access) {
  const RepositoryCache cache = find_cache(cache_root(access, repository.kind), repository);
  if (const std::optional<std::string> commit = cache.commit_of(revision))
    if (std::optional<Snapshot> whole = whole_in_cache(cache, *commit, selection)) return *whole;
  return update_snapshot(repository, revision, selection, access);
}

}  // namespace hearth::hub
