#include "hearth/io/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hearth::io {
namespace {

std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) {
  return std::rotl((lane ^ word) * 0x9E3779B97F4A7C15u, 29);
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
  return word;
}

}  // namespace

void Checksum::absorb(std::uint64_t word) {
  std::uint64_t& lane = lanes_[words_++ % lanes_.size()];
  lane = mixed(lane, word);
}

void Checksum::update(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  for (; at < bytes.size() && words_ % 4 != 0; at += 8) absorb(word_at(bytes, at));
  auto [a, b, c, d] = lanes_;
  for (; at + 32 <= bytes.size(); at += 32) {  // in registers, all four lanes at a time
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, sizeof words);
    a = mixed(a, words[0]);
    b = mixed(b, words[1]);
    c = mixed(c, words[2]);
    d = mixed(d, words[3]);
    words_ += 4;
  }
  lanes_ = {a, b, c, d};
  for (; at < bytes.size(); at += 8) absorb(word_at(bytes, at));
}

std::uint64_t Checksum::value() const {
  std::uint64_t all = words_;
  for (const std::uint64_t lane : lanes_) all = std::rotl((all ^ lane) * 0xC2B2AE3D27D4EB4Fu, 31);
  return all;
}

}  // namespace hearth::io
