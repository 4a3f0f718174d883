#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "hearth/data/array.h"
#include "hearth/io/growing_file.h"

namespace hearth::data {

// Features that are made part by part, written to files, and mapped into memory at the end, so that memory does not
// grow with them. Features::arrays() ties its Arrays; the first is `starts`, where rows begin in the arrays of tokens.
template <class Features>
class FeatureStore {
 public:
  explicit FeatureStore(const std::filesystem::path& folder) {
    constexpr std::size_t kArrays = std::tuple_size_v<decltype(std::declval<Features&>().arrays())>;
    for (std::size_t i = 0; i < kArrays; ++i) files_.emplace_back(folder);
    write(0, std::span<const std::int64_t>(&tokens_, 1));
  }

  void append(const Features& part) {
    std::vector<std::int64_t> starts(part.starts.begin() + 1, part.starts.end());
    for (std::int64_t& start : starts) start += tokens_;
    tokens_ += part.starts.back();
    write(0, std::span<const std::int64_t>(starts));
    const auto write_others = [&](const auto&, const auto&... others) {
      std::size_t file = 1;
      (write(file++, others.view()), ...);
    };
    std::apply(write_others, part.arrays());
  }

  Features finish() {
    Features features;
    std::size_t file = 0;
    std::apply([&](auto&... arrays) { (map(arrays, files_[file++]), ...); }, features.arrays());
    return features;
  }

 private:
  template <class T>
  void write(std::size_t file, std::span<const T> items) {
    files_[file].write(std::as_bytes(items));
  }
  template <class T>
  static void map(Array<T>& array, io::GrowingFile& file) {
    const io::GrowingFile::Mapped mapped = file.map();
    if (mapped.owner)
      array =
          Array<T>({reinterpret_cast<const T*>(mapped.bytes.data()), mapped.bytes.size() / sizeof(T)}, mapped.owner);
  }

  std::vector<io::GrowingFile> files_;
  std::int64_t tokens_ = 0;
};

}  // namespace hearth::data
