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

#include "hearth/data/sha256.h"
#include "hearth/io/file.h"

namespace hearth::data {

// Everything that a cached result depends on, each part under a name: any difference gives another key.
class CacheKey {
 public:
  CacheKey& add(std::string_view name, std::string_view value);
  CacheKey& add(std::string_view name, std::int64_t value);
  // The contents of a file; that it is not there is a value too.
  CacheKey& add_file(std::string_view name, const std::filesystem::path& path);

  std::string hex() const { return hash_.hex(); }

 private:
  Sha256 hash_;
};

// A result as arrays of bytes, each aligned to 8, alive as long as this is.
struct Cached {
  std::shared_ptr<const io::MappedFile> file;
  std::vector<std::span<const std::byte>> sections;
};

// Results in a folder, one file a key, replaced in one step: readers and other writers never see half of one.
class Cache {
 public:
  explicit Cache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Nothing where there is no such file, or where it is damaged, which is logged.
  std::optional<Cached> load(const CacheKey& key) const;
  // Where it cannot be written, that is logged as a warning: all else works without it.
  void store(const CacheKey& key, const std::vector<std::span<const std::byte>>& sections) const;

  std::filesystem::path path_of(const CacheKey& key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hearth::data
