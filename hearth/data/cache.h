#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/io/file.h"
#include "hearth/io/sha256.h"

namespace hearth::data {

// Hashes everything that a cached result depends on, each part under a name.
class CacheKey {
 public:
  CacheKey& add(std::string_view name, std::string_view value);
  CacheKey& add(std::string_view name, std::int64_t value);
  // Adds the contents of a file, or that the file does not exist.
  CacheKey& add_file(std::string_view name, const std::filesystem::path& path);

  std::string hex() const { return hash_.hex(); }

 private:
  io::Sha256 hash_;
};

// A cached result: sections of bytes, aligned to 8, that live as long as `file`.
struct Cached {
  std::shared_ptr<const io::MappedFile> file;
  std::vector<std::span<const std::byte>> sections;
};

// Bytes to store. Those of a mapped file do not stay in memory.
struct Section {
  std::span<const std::byte> bytes;
  bool is_mapped = false;
};

// A folder of results, one file per key. Files are replaced atomically, so other processes never read half a file. A
// file that is removed while a process reads it stays readable there.
class Cache {
 public:
  // `limit`: bytes that the files may take together. Storing removes those that were not used for longest.
  explicit Cache(std::filesystem::path folder, std::uintmax_t limit = limit_of_environment())
      : folder_(std::move(folder)), limit_(limit) {}
  static std::uintmax_t limit_of_environment();  // HEARTH_CACHE_LIMIT

  // Nothing if there is no file for the key; a damaged file gives a warning and counts as none.
  std::optional<Cached> load(const CacheKey& key) const;
  // The warning, also for a file that is whole but holds what no program of this version has stored.
  void warn_of_damage(const CacheKey& key, std::string_view problem) const;
  // A file that cannot be written gives a warning only: training works without the cache.
  void store(const CacheKey& key, const std::vector<Section>& sections) const;

  std::filesystem::path path_of(const CacheKey& key) const;
  const std::filesystem::path& folder() const { return folder_; }
  std::uintmax_t limit() const { return limit_; }

  struct File {
    std::filesystem::path path;
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type used;  // when it was last stored or loaded
  };
  std::vector<File> files() const;  // longest unused first
  void clear() const;               // removes them, and what killed processes left behind

 private:
  void shrink(const std::filesystem::path& kept) const;

  std::filesystem::path folder_;
  std::uintmax_t limit_;
};

}  // namespace hearth::data
