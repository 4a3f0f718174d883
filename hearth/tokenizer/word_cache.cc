#include "hearth/tokenizer/word_cache.h"

#include <memory>

namespace hearth::tokenizer {

WordCache& WordCache::of_thread(std::uint64_t serial) {
  thread_local std::uint64_t owner = 0;
  thread_local std::unique_ptr<WordCache> cache;
  if (!cache || owner != serial) cache = std::make_unique<WordCache>();
  owner = serial;
  return *cache;
}

void WordCache::store(std::string_view word, std::uint64_t hash, std::span<const Piece> pieces) {
  if (pieces.size() > kMostPieces) return;
  Entry& entry = entries_[place_of(hash)];
  entry.hash = hash;
  entry.bytes = static_cast<std::uint8_t>(word.size());
  entry.count = static_cast<std::uint8_t>(pieces.size());
  std::memcpy(entry.word.data(), word.data(), word.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    entry.ids[i] = pieces[i].id;
    entry.begins[i] = static_cast<std::uint8_t>(pieces[i].begin);
    entry.ends[i] = static_cast<std::uint8_t>(pieces[i].end);
  }
}

// Eight bytes at a time, each step a multiplication and a mix of the high bits into the low ones.
std::uint64_t WordCache::hash_of(std::string_view word) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = word.size() * kFactor;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * kFactor;
    hash ^= hash >> 32;
  };
  std::size_t at = 0;
  for (; at + 8 <= word.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, word.data() + at, 8);
    mix(value);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, word.data() + at, word.size() - at);
  mix(rest);
  return hash * kFactor;
}

}  // namespace hearth::tokenizer
