#pragma once

#include <filesystem>
#include <string>

#include "hearth/hub/repository_download.h"
#include "hearth/hub/settings.h"

namespace hearth::hub {

struct UploadOptions {
  std::string path_in_repo;  // folder of the repository that the files go to; empty: the repository itself
  std::string message = "Upload folder using hearth";
  std::string revision{kMainRevision};
  bool is_private = false;  // of a repository that is created
  FilePatterns patterns;
};

struct Commit {
  Repository repository;  // with the organisation that the Hub filled in
  std::string url;        // of the commit or, where nothing had changed, of the revision
};

// Creates the repository if it does not exist, and returns it with its whole name: one without an organisation belongs
// to the owner of the token. An Error where the token must not write.
Repository create_repository(Repository repository, const UploadOptions& options, const Access& access);

// Uploads a folder, or a single file, as one commit. The repository, as with create_repository(), and the revision
// are created if they do not exist. Files that the Hub has already are left out.
Commit upload(Repository repository, const std::filesystem::path& source, const UploadOptions& options,
              const Access& access);

}  // namespace hearth::hub
