#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hearth/io/json_fwd.h"

namespace hearth::tokenizer {

struct CountedWord {
  std::string text;
  std::int64_t count = 0;
};

// Counts the words that a normalizer and a pre-tokenizer make of texts, on all threads. Trainers of vocabularies need
// no more of their texts.
class WordCounter {
 public:
  explicit WordCounter(const io::Json& tokenizer);  // nodes of tokenizer.json: "normalizer" and "pre_tokenizer"
  ~WordCounter();
  WordCounter(const WordCounter&) = delete;
  WordCounter& operator=(const WordCounter&) = delete;

  // Bytes that are not UTF-8 count as U+FFFD.
  void add(std::span<const std::string_view> texts);
  // Every line is a text, with its end, as in Hugging Face's library.
  void add_file(const std::filesystem::path& file);
  std::vector<CountedWord> words() const;  // in ascending order; no words are an Error

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };
  using Counts = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;
  static constexpr std::size_t kShards = 16;  // words by their hashes, so that threads add up counts without locks
  using Shards = std::array<Counts, kShards>;
  class Splitter;

  void count(std::span<const std::string_view> texts, Shards& shards) const;

  std::unique_ptr<const Splitter> splitter_;
  Shards counts_;
};

}  // namespace hearth::tokenizer
