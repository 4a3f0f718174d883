#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hearth::io {

// SHA-256 (FIPS 180-4) over bytes that come in any number of pieces.
class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  Digest digest() const;    // of all bytes so far; more may follow
  std::string hex() const;  // the same, 64 lower-case digits

 private:
  static constexpr std::size_t kBlock = 64;

  void absorb(const std::byte* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> pending_{};
  std::uint64_t size_ = 0;
};

std::string sha256_of(std::string_view text);
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace hearth::io
