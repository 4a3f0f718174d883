#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::io {

// A 64-bit checksum of bytes that come in pieces: four lanes of multiply and rotate, as fast as memory. Every step is
// invertible, so a change within one word of 8 bytes is always noticed. It detects damage, not tampering.
class Checksum {
 public:
  // Each piece but the last is a multiple of 8 bytes; the last counts as padded with zeros.
  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  void absorb(std::uint64_t word);

  std::array<std::uint64_t, 4> lanes_{1, 2, 3, 4};
  std::uint64_t words_ = 0;
};

}  // namespace hearth::io
