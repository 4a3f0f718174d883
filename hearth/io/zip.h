#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/file.h"

namespace hearth::io {

// A memory-mapped zip file with entries that are stored as they are, as torch.save writes it. Opening checks the whole
// directory: entries that are compressed, encrypted, overlap, lie outside of the file or are described in two ways are
// an Error. The CRC of the values is not compared, as PyTorch does not compare it.
class ZipFile {
 public:
  explicit ZipFile(std::shared_ptr<const MappedFile> file);

  static bool is_zip(std::string_view bytes);  // by its first bytes

  const std::filesystem::path& path() const { return file_->path(); }
  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  const std::map<std::string, std::string_view, std::less<>>& entries() const { return entries_; }  // by name
  bool contains(std::string_view name) const { return entries_.contains(name); }
  std::string_view entry(std::string_view name) const;  // an Error if there is none

 private:
  std::shared_ptr<const MappedFile> file_;
  std::map<std::string, std::string_view, std::less<>> entries_;
};

// Writes a zip file whose entries are stored as they are, beginning at multiples of 64 bytes.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  void add(const std::string& name, std::string_view contents);
  void commit();  // as AtomicFile::commit

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t size = 0, offset = 0;
  };

  void write(std::string_view bytes);

  AtomicFile file_;
  std::uint64_t written_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace hearth::io
