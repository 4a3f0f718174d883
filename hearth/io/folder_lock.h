#pragma once

#include <filesystem>
#include <string_view>

namespace hearth::io {

inline constexpr const char* kLockFile = ".hearth.lock";

// Holds a folder for one run: an flock on kLockFile in it, which says whose it is. The lock ends with the process,
// however the process ends, so a file that a dead run left locks nothing. It works between hosts that share the folder
// over NFS; where a file system cannot lock, there is a warning and no lock.
class FolderLock {
 public:
  // Another run holds the folder: an Error that names it and ends in `advice`.
  FolderLock(const std::filesystem::path& folder, std::string_view advice);
  ~FolderLock();  // removes the file
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  bool try_lock(std::string_view advice);

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace hearth::io
