#pragma once

#include <filesystem>
#include <string_view>

namespace hearth::io {

// A file that others read while it grows. Every append() is one write, so that a reader sees whole pieces; nothing
// waits for the disk.
class AppendedFile {
 public:
  explicit AppendedFile(const std::filesystem::path& path);  // what is in the file already stays
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void append(std::string_view bytes);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace hearth::io
