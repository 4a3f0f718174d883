#include "hearth/io/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "hearth/io/file.h"

namespace hearth::io {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRoundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

template <class Word>
void store_big_endian(Word word, std::byte* to) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) to[i] = static_cast<std::byte>(word >> (8 * (sizeof(Word) - 1 - i)));
}

std::uint32_t load_big_endian(const std::byte* from) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | static_cast<std::uint32_t>(from[i]);
  return word;
}

}  // namespace

void Sha256::absorb(const std::byte* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += mixed[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t held = size_ % kBlock;
  size_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(kBlock - held, bytes.size());
    std::memcpy(pending_.data() + held, bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (held + taken < kBlock) return;
    absorb(pending_.data());
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) absorb(bytes.data());
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text))); }

Sha256::Digest Sha256::digest() const {
  Sha256 last = *this;
  const std::size_t held = size_ % kBlock;
  std::array<std::byte, 2 * kBlock> padding{std::byte{0x80}};
  const std::size_t zeros_end = (held < kBlock - 8 ? kBlock : 2 * kBlock) - held;
  store_big_endian(8 * size_, padding.data() + zeros_end - 8);
  last.update(std::span(padding).first(zeros_end));
  Digest result;
  for (std::size_t i = 0; i < 8; ++i) {
    store_big_endian(last.state_[i], reinterpret_cast<std::byte*>(result.data()) + 4 * i);
  }
  return result;
}

std::string Sha256::hex() const {
  std::string text;
  for (const std::uint8_t byte : digest()) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) { return sha256_of(MappedFile(path).text()); }

}  // namespace hearth::io
