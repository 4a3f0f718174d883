#include "hearth/io/block_compression.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <limits>

#include "hearth/base/check.h"

namespace hearth::io {
namespace {

using Bytes = std::span<const std::byte>;
using Room = std::span<std::byte>;

const char* chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* chars(Room bytes) { return reinterpret_cast<char*>(bytes.data()); }

bool snappy_block(Bytes block, Room out) {
  std::size_t size = 0;
  return snappy::GetUncompressedLength(chars(block), block.size(), &size) && size == out.size() &&
         snappy::RawUncompress(chars(block), block.size(), chars(out));
}

bool gzip_block(Bytes block, Room out) {
  constexpr int kGzipOrZlib = 32;
  z_stream stream{};
  if (::inflateInit2(&stream, MAX_WBITS + kGzipOrZlib) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(block.data()));
  stream.avail_in = static_cast<uInt>(block.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::inflate(&stream, Z_FINISH);
  const bool is_whole = result == Z_STREAM_END && stream.avail_out == 0;
  ::inflateEnd(&stream);
  return is_whole;
}

bool zstd_block(Bytes block, Room out) {
  return ::ZSTD_decompress(out.data(), out.size(), block.data(), block.size()) == out.size();
}

bool lz4_block(Bytes block, Room out) {
  return ::LZ4_decompress_safe(chars(block), chars(out), static_cast<int>(block.size()),
                               static_cast<int>(out.size())) == static_cast<int>(out.size());
}

}  // namespace

std::string_view name_of(BlockCodec codec) {
  switch (codec) {
    case BlockCodec::snappy:
      return "snappy";
    case BlockCodec::gzip:
      return "gzip";
    case BlockCodec::zstd:
      return "zstd";
    case BlockCodec::lz4_raw:
      break;
  }
  return "lz4_raw";
}

void decompress(BlockCodec codec, Bytes block, Room out) {
  constexpr std::size_t kLargest = std::numeric_limits<int>::max();
  const auto expands = [&] {
    switch (codec) {
      case BlockCodec::snappy:
        return snappy_block(block, out);
      case BlockCodec::gzip:
        return gzip_block(block, out);
      case BlockCodec::zstd:
        return zstd_block(block, out);
      case BlockCodec::lz4_raw:
        return lz4_block(block, out);
    }
    return false;
  };
  check(block.size() <= kLargest && out.size() <= kLargest && expands(), "a {} block does not expand to {} bytes",
        name_of(codec), out.size());
}

std::uint32_t crc32_of(Bytes bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace hearth::io
