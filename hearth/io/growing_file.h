#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace hearth::io {

// A file without a name that grows by write() and is then read through a memory map. It is gone when nothing refers to
// it any more, also if the process is killed. Where `folder` cannot be written, or is full, the file lies in memory.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path folder);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;

  void write(std::span<const std::byte> bytes);
  bool is_in_memory() const { return in_memory_; }

  // The bytes of the file, which live as long as `owner`.
  struct Mapped {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  Mapped map();  // once; nothing is written after it

 private:
  void move_to_memory();

  int descriptor_ = -1;
  bool in_memory_ = false;
  std::uint64_t size_ = 0;
};

// Drops the pages of a mapped file from the memory of this process; they are read again when they are needed. Not for
// other memory, which would be lost.
void release_pages(std::span<const std::byte> mapped);

}  // namespace hearth::io
