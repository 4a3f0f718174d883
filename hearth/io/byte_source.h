#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace hearth::io {

// Bytes that are read from the first to the last.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next bytes; fewer than asked for only at the end.
  virtual std::size_t read(std::span<std::byte> into) = 0;
};

enum class Compression { none, gzip, zstd };

// By the ending of the name: .gz, .zst, or any other.
Compression compression_of(const std::filesystem::path& file);
// The name without .gz or .zst.
std::filesystem::path uncompressed_name(const std::filesystem::path& file);

// The contents of a file, decompressed where its name says so. Memory does not grow with the file, however much it
// expands. Data that cannot be decompressed, or that ends too early, is an Error.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file);

}  // namespace hearth::io
