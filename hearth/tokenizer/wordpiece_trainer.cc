#include "hearth/tokenizer/wordpiece_trainer.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/word_reader.h"

namespace hearth::tokenizer {
namespace {

constexpr std::string_view kPrefix = "##";
constexpr std::int32_t kLongestWord = 100;  // BERT's tokenizer makes a longer word an unknown token in any case
constexpr std::int64_t kProgressStep = 100;

using Piece = std::int32_t;
using PairKey = std::uint64_t;  // ordered by the left id, then by the right

PairKey key_of(Piece left, Piece right) {
  return PairKey{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

struct CountedWord {
  std::string_view text;
  std::int64_t count;
};

std::string character(char32_t c) {
  std::string text;
  io::append_utf8(text, c);
  return text;
}

class Merger {
 public:
  Merger(std::vector<CountedWord> words, const WordPieceTraining& options);
  Vocabulary run();

 private:
  struct Pair {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // that may contain it
  };
  struct Candidate {
    std::int64_t count;
    PairKey pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  Piece piece(const std::string& text);
  std::set<char32_t> alphabet() const;
  void spell_words();
  void count_pairs();
  void merge(PairKey pair);
  void merge_in_word(std::uint32_t word, Piece left, Piece right, Piece merged);
  void change(Piece left, Piece right, std::int64_t by, std::uint32_t word);
  std::string spelling(Piece left, Piece right) const;

  const WordPieceTraining& options_;
  std::vector<CountedWord> words_;
  std::vector<std::vector<Piece>> spelled_;
  Vocabulary vocabulary_;
  std::unordered_map<std::string, Piece> pieces_;
  std::unordered_map<PairKey, Pair> pairs_;
  std::priority_queue<Candidate> candidates_;  // counts may be outdated
  std::vector<PairKey> grown_;
};

Merger::Merger(std::vector<CountedWord> words, const WordPieceTraining& options)
    : options_(options), words_(std::move(words)) {
  for (const std::string& token : options.special_tokens) piece(token);
  spell_words();
  count_pairs();
}

Piece Merger::piece(const std::string& text) {
  const auto [found, is_new] = pieces_.try_emplace(text, static_cast<Piece>(vocabulary_.size()));
  if (is_new) vocabulary_.push_back(text);
  return found->second;
}

std::set<char32_t> Merger::alphabet() const {
  std::map<char32_t, std::int64_t> counts;
  for (const auto& [text, count] : words_)
    for (std::size_t at = 0; at < text.size();) counts[read_code_point(text, at)] += count;
  std::vector<std::pair<char32_t, std::int64_t>> ranked(counts.begin(), counts.end());
  std::ranges::stable_sort(ranked, std::greater{}, &std::pair<char32_t, std::int64_t>::second);
  ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(options_.limit_alphabet)));
  std::set<char32_t> kept;
  for (const auto& [c, count] : ranked) kept.insert(c);
  return kept;
}

// Characters outside the alphabet are left out of the words.
void Merger::spell_words() {
  const std::set<char32_t> kept = alphabet();
  std::vector<std::u32string> spellings;
  std::set<char32_t> continuing;
  for (const CountedWord& word : words_) {
    std::u32string& spelling = spellings.emplace_back();
    for (std::size_t at = 0; at < word.text.size();) {
      const bool first = at == 0;
      const char32_t c = read_code_point(word.text, at);
      if (!kept.contains(c)) continue;
      spelling += c;
      if (!first) continuing.insert(c);
    }
  }
  std::unordered_map<char32_t, Piece> beginnings, continuations;
  for (const char32_t c : kept) beginnings[c] = piece(character(c));
  for (const char32_t c : continuing) continuations[c] = piece(std::string(kPrefix) + character(c));
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::vector<Piece>& spelled = spelled_.emplace_back();
    std::size_t at = 0;
    const bool starts = !spellings[i].empty() && read_code_point(words_[i].text, at) == spellings[i].front();
    for (const char32_t c : spellings[i])
      spelled.push_back(spelled.empty() && starts ? beginnings.at(c) : continuations.at(c));
  }
}

void Merger::count_pairs() {
  for (std::uint32_t word = 0; word < spelled_.size(); ++word) {
    const std::vector<Piece>& spelled = spelled_[word];
    for (std::size_t i = 1; i < spelled.size(); ++i) change(spelled[i - 1], spelled[i], words_[word].count, word);
  }
  grown_.clear();
  for (const auto& [key, pair] : pairs_) candidates_.push({pair.count, key});
}

Vocabulary Merger::run() {
  const auto size = [&] { return static_cast<std::int64_t>(vocabulary_.size()); };
  while (size() < options_.vocab_size && !candidates_.empty()) {
    const Candidate best = candidates_.top();
    candidates_.pop();
    const auto found = pairs_.find(best.pair);
    if (found == pairs_.end()) continue;
    if (found->second.count != best.count) {
      candidates_.push({found->second.count, best.pair});
      continue;
    }
    if (best.count < std::max(options_.min_frequency, std::int64_t{1})) break;
    merge(best.pair);
    if (options_.progress && size() % kProgressStep == 0) options_.progress(size(), options_.vocab_size);
  }
  if (options_.progress) options_.progress(size(), size());
  return std::move(vocabulary_);
}

std::string Merger::spelling(Piece left, Piece right) const {
  std::string_view rest = vocabulary_[static_cast<std::size_t>(right)];
  if (rest.starts_with(kPrefix)) rest.remove_prefix(kPrefix.size());
  return vocabulary_[static_cast<std::size_t>(left)] + std::string(rest);
}

void Merger::merge(PairKey pair) {
  const auto left = static_cast<Piece>(pair >> 32), right = static_cast<Piece>(pair & 0xFFFFFFFFu);
  const Piece merged = piece(spelling(left, right));
  const std::vector<std::uint32_t> words = std::move(pairs_.at(pair).words);
  pairs_.erase(pair);
  for (const std::uint32_t word : words) merge_in_word(word, left, right, merged);
  std::ranges::sort(grown_);
  grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
  for (const PairKey key : grown_)
    if (const auto found = pairs_.find(key); found != pairs_.end()) candidates_.push({found->second.count, key});
  grown_.clear();
  pairs_.erase(pair);
}

void Merger::merge_in_word(std::uint32_t word, Piece left, Piece right, Piece merged) {
  std::vector<Piece>& spelled = spelled_[word];
  const std::int64_t count = words_[word].count;
  for (std::size_t i = 0; i + 1 < spelled.size(); ++i) {
    if (spelled[i] != left || spelled[i + 1] != right) continue;
    if (i > 0) {
      change(spelled[i - 1], left, -count, word);
      change(spelled[i - 1], merged, count, word);
    }
    if (i + 2 < spelled.size()) {
      change(right, spelled[i + 2], -count, word);
      change(merged, spelled[i + 2], count, word);
    }
    spelled[i] = merged;
    spelled.erase(spelled.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

void Merger::change(Piece left, Piece right, std::int64_t by, std::uint32_t word) {
  const PairKey key = key_of(left, right);
  Pair& pair = pairs_[key];
  pair.count += by;
  if (by < 0) return;
  if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
  grown_.push_back(key);
}

}  // namespace

WordPieceTrainer::WordPieceTrainer(WordPieceTraining options)
    : options_(std::move(options)), normalizer_(options_.normalizer) {
  check(options_.vocab_size > 0, "a vocabulary of {} tokens cannot be trained: vocab_size must be at least 1",
        options_.vocab_size);
  check(options_.limit_alphabet > 0,
        "an alphabet of {} characters cannot spell a word: limit_alphabet must be at least 1", options_.limit_alphabet);
}

void WordPieceTrainer::add_text(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    WordReader words(normalizer_, line, 0);
    for (Word word; words.next(word);) {
      if (word.characters > kLongestWord) continue;
      const auto found = word_counts_.find(word.text);
      if (found == word_counts_.end())
        word_counts_.emplace(word.text, 1);
      else
        ++found->second;
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

void WordPieceTrainer::add_file(const std::filesystem::path& file) { add_text(io::MappedFile(file).text()); }

Vocabulary WordPieceTrainer::train() const {
  check(!word_counts_.empty(), "the training texts have no words: give files with text");
  std::vector<CountedWord> words;
  for (const auto& [text, count] : word_counts_) words.push_back({text, count});
  std::ranges::sort(words, {}, &CountedWord::text);
  return Merger(std::move(words), options_).run();
}

}  // namespace hearth::tokenizer
