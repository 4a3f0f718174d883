#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace hearth::io {

// A regular file that is read in parts. Unlike a MappedFile, it adds nothing to the resident memory of the process.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  // The next bytes of the file; fewer than asked for only at its end.
  std::size_t read(std::span<std::byte> into);
  // The bytes from `offset` on; an Error where the file has fewer. Does not move read().
  void read_at(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  std::size_t read_from(std::uint64_t offset, std::span<std::byte> into) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0, at_ = 0;
};

}  // namespace hearth::io
