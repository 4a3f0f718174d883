#include "hearth/io/checksum.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::io {
namespace {

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * i * 31 + i / 7);
  return bytes;
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  Checksum checksum;
  checksum.update(bytes);
  return checksum.value();
}

TEST(ChecksumTest, PiecesMakeNoDifference) {
  for (const std::size_t size : {0u, 5u, 8u, 32u, 100u, 264u}) {
    const std::vector<std::byte> bytes = some_bytes(size);
    for (std::size_t cut = 0; cut <= size; cut += 8) {
      Checksum checksum;
      checksum.update(std::span(bytes).first(cut));
      checksum.update(std::span(bytes).subspan(cut));
      ASSERT_EQ(checksum.value(), checksum_of(bytes)) << size << " cut at " << cut;
    }
  }
}

TEST(ChecksumTest, EveryBitCounts) {
  std::vector<std::byte> bytes = some_bytes(75);
  const std::uint64_t whole = checksum_of(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto flip = static_cast<std::byte>(1 << bit % 8);
    bytes[bit / 8] ^= flip;
    ASSERT_NE(checksum_of(bytes), whole) << "bit " << bit;
    bytes[bit / 8] ^= flip;
  }
  std::swap(bytes[8], bytes[40]);  // of the same lane
  EXPECT_NE(checksum_of(bytes), whole);
}

// Files hold this value: it must never change.
TEST(ChecksumTest, IsTheSameForEver) { EXPECT_EQ(checksum_of(some_bytes(75)), 0xd29defdb1db806ccu); }

}  // namespace
}  // namespace hearth::io
