#pragma once

#include <filesystem>
#include <string>

namespace hearth::hub {

// Holds a lock file as huggingface_hub does (an flock), so that processes of both kinds wait for each other. It waits
// until the lock is free, with a message from time to time. The lock ends with the process; the file stays.
class FileLock {
 public:
  // `purpose` says what the holder does: "downloads model.safetensors".
  FileLock(const std::filesystem::path& file, const std::string& purpose);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace hearth::hub
