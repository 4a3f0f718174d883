#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/model.h"

namespace hearth::tokenizer {

// The tokens of words that a thread has met before; most words of a text are among a few thousand. A word has one
// place, by its hash, and replaces the word that was there. Long words are not kept.
class WordCache {
 public:
  static constexpr std::size_t kLongestWord = 32, kMostPieces = 8;

  // The cache of this thread for the tokenizer with this serial number. A thread has one at a time.
  static WordCache& of_thread(std::uint64_t serial);

  struct Entry {
    std::uint64_t hash = 0;
    std::uint8_t bytes = 0, count = 0;  // bytes 0: empty
    std::array<char, kLongestWord> word;
    std::array<std::int32_t, kMostPieces> ids;
    std::array<std::uint8_t, kMostPieces> begins, ends;
  };

  static bool takes(std::string_view word) { return word.size() <= kLongestWord; }
  // The entry of the word, which is not empty, or null.
  const Entry* find(std::string_view word, std::uint64_t hash) const {
    const Entry& entry = entries_[place_of(hash)];
    const bool found = entry.hash == hash && entry.bytes == word.size() &&
                       std::memcmp(entry.word.data(), word.data(), word.size()) == 0;
    return found ? &entry : nullptr;
  }
  void store(std::string_view word, std::uint64_t hash, std::span<const Piece> pieces);

  static std::uint64_t hash_of(std::string_view word);

 private:
  static constexpr int kBits = 14;

  static std::size_t place_of(std::uint64_t hash) { return hash >> (64 - kBits); }

  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kBits);
};

}  // namespace hearth::tokenizer
