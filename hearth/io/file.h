#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hearth::io {

// A file mapped read-only into memory; pages are read when touched. Replacing the file by rename does not change an
// existing mapping. Tensors that view it share ownership through a std::shared_ptr.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A file written under a temporary name in the same folder and renamed into place by commit(). Without commit(), or
// after a failure, the previous file stays untouched. The temporary file is locked: remove_abandoned_files() tells one
// that is being written from one whose process has died.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  enum class Sync { to_disk, later };      // later: nothing waits for the disk, and a power cut may lose the contents
  void commit(Sync sync = Sync::to_disk);  // at most once, and nothing is written after it

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// Only regular files are read, except by read_stream: no pipe, device or socket in place of a file keeps a reader
// waiting.
std::string read_file(const std::filesystem::path& path);
// Also reads a pipe or a terminal to its end, such as /dev/stdin and the <(command) of a shell.
std::string read_stream(const std::filesystem::path& path);
// Hands the contents to `take` in pieces of 1 MiB; only the last may be shorter.
void read_in_pieces(const std::filesystem::path& path, const std::function<void(std::span<const std::byte>)>& take);
void replace_file(const std::filesystem::path& path, std::string_view contents);  // all or nothing, see AtomicFile
// The same for a file that others read while a run renews it every few seconds (Sync::later).
void renew_file(const std::filesystem::path& path, std::string_view contents);
// Makes renames in the folder survive a power cut. Some file systems cannot do that, which is no error.
void sync_folder(const std::filesystem::path& folder);
// Removes the temporary files that killed processes have left in the folder, of this host or another.
void remove_abandoned_files(const std::filesystem::path& folder);
void create_directories(const std::filesystem::path& path);
void check_readable(const std::filesystem::path& file);    // throws unless it is a regular file and opens
void check_writable(const std::filesystem::path& folder);  // throws if no file can be created in it

}  // namespace hearth::io
