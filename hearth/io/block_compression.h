#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::io {

enum class BlockCodec { snappy, gzip, zstd, lz4_raw };
std::string_view name_of(BlockCodec codec);

// Decompresses a block that is known to expand to exactly `out.size()` bytes; anything else is an Error.
void decompress(BlockCodec codec, std::span<const std::byte> block, std::span<std::byte> out);

// The CRC-32 of gzip and Parquet.
std::uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace hearth::io
