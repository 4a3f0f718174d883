#include "hearth/hub/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/sha256.h"

namespace hearth::hub {
namespace {

// SHA-1 (FIPS 180-4). Git names contents by it; nothing here relies on it against an attacker.
class Sha1 {
 public:
  void update(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      block_[size_++ % kBlock] = static_cast<std::uint8_t>(byte);
      if (size_ % kBlock == 0) absorb();
    }
  }
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }

  std::string hex() {
    const std::uint64_t bits = 8 * size_;
    update(std::string_view("\x80", 1));
    while (size_ % kBlock != kBlock - 8) update(std::string_view("\0", 1));
    for (int shift = 56; shift >= 0; shift -= 8) {
      const char byte = static_cast<char>(bits >> shift);
      update(std::string_view(&byte, 1));
    }
    std::string text;
    for (const std::uint32_t word : state_) text += fmt::format("{:08x}", word);
    return text;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  void absorb() {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | block_[i];
    for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state_;
    for (std::size_t i = 0; i < 80; ++i) {
      const std::uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                              : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                              : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                       : (b ^ c ^ d) + 0xca62c1d6;
      const std::uint32_t next = std::rotl(a, 5) + f + e + w[i];
      e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    const std::array<std::uint32_t, 5> added{a, b, c, d, e};
    for (std::size_t i = 0; i < 5; ++i) state_[i] += added[i];
  }

  std::array<std::uint32_t, 5> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::array<std::uint8_t, kBlock> block_{};
  std::uint64_t size_ = 0;
};

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

std::string git_blob_id(const std::filesystem::path& file) {
  Sha1 hash;
  hash.update(fmt::format("blob {}", std::filesystem::file_size(file)) + '\0');
  io::read_in_pieces(file, [&](std::span<const std::byte> piece) { hash.update(piece); });
  return hash.hex();
}

void check_contents(const std::filesystem::path& file, const std::string& etag, const std::string& name) {
  const bool is_large = is_hex(etag, 64);
  if (!is_large && !is_hex(etag, 40)) return;
  const std::string found = is_large ? io::sha256_of_file(file) : git_blob_id(file);
  check(found == etag, "{} arrived damaged: its {} is {}, where the Hub names {}; nothing of it was kept, try again",
        name, is_large ? "SHA-256" : "Git id", found, etag);
}

}  // namespace hearth::hub
