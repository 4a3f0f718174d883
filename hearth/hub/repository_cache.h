#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/hub/repository.h"

namespace hearth::hub {

// The folder of one repository in the cache, laid out as huggingface_hub does:
//
//   models--towns--tiny-bert/refs/main                   the commit that the branch was at
//                            snapshots/COMMIT/FILE       a relative link to ../../blobs/ETAG
//                            blobs/ETAG                  the contents; ETAG.incomplete while it is downloaded
//                            .no_exist/COMMIT/FILE       empty: the commit is known not to have the file
//                            .files/COMMIT               Hearth's own: the names of all files of the commit
//   .locks/models--towns--tiny-bert/ETAG.lock            held while ETAG is downloaded
class RepositoryCache {
 public:
  RepositoryCache(const std::filesystem::path& root, Repository repository);

  const Repository& repository() const { return repository_; }
  const std::filesystem::path& root() const { return root_; }
  bool exists() const { return std::filesystem::is_directory(folder_); }

  // The commit that the revision, a branch, a tag or a commit, stands for; nullopt where no snapshot of it is cached.
  std::optional<std::string> commit_of(const std::string& revision) const;
  void store_ref(const std::string& revision, const std::string& commit) const;

  std::filesystem::path snapshot(const std::string& commit) const { return folder_ / "snapshots" / commit; }
  std::filesystem::path file(const std::string& commit, std::string_view name) const { return snapshot(commit) / name; }
  bool has(const std::string& commit, std::string_view name) const;
  std::vector<std::string> cached_files(const std::string& commit) const;  // below the snapshot, sorted

  // All files of the commit, where a former run has asked the Hub.
  std::optional<std::vector<std::string>> listing(const std::string& commit) const;
  void store_listing(const std::string& commit, const std::vector<std::string>& files) const;

  // Notes, for huggingface_hub, that the commit does not have the file.
  void store_absent(const std::string& commit, std::string_view name) const;

  // An ETag becomes a file name: an Error where it could lead elsewhere.
  std::filesystem::path blob(const std::string& etag) const;
  std::filesystem::path lock(const std::string& etag) const;
  // Makes the file of the snapshot a link to the blob.
  void link(const std::string& commit, std::string_view name, const std::string& etag) const;

 private:
  std::filesystem::path root_, folder_;
  Repository repository_;
};

// The repository's folder in the cache under the name given or, where only that one is there, under its present name.
RepositoryCache find_cache(const std::filesystem::path& root, const Repository& repository);

}  // namespace hearth::hub
