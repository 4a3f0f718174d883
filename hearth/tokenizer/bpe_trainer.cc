#include "hearth/tokenizer/bpe_trainer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/pair_table.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr std::int64_t kProgressStep = 100;

using WordIndex = std::uint32_t;

std::string text_of(char32_t c) {
  std::string text;
  io::append_utf8(text, c);
  return text;
}

class Merger {
 public:
  Merger(std::span<const CountedWord> words, const BpeTraining& options);
  TrainedBpe run();

 private:
  struct SpelledWord {
    std::size_t begin;  // in symbols_
    std::uint32_t length;
    std::int64_t count;
  };
  // A pair as it was when words with it were found. Merging it changes these words alone: a pair that comes about in
  // several ways (its left token made of "a" and "bc", and of "ab" and "c") has several candidates.
  struct Candidate {
    std::int64_t count;  // may be outdated
    PairKey pair;
    std::size_t words;  // in places_
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  std::int64_t size() const { return std::ssize(result_.vocabulary); }
  std::int32_t token(const std::string& text);
  std::set<char32_t> alphabet(std::span<const CountedWord> words) const;
  void spell(std::span<const CountedWord> words);
  void count_pairs();
  void merge(const Candidate& candidate);
  void merge_in_word(WordIndex word, PairKey pair, std::int32_t merged);
  void change(std::int32_t left, std::int32_t right, std::int64_t by, WordIndex word);
  void push_grown();
  std::string spelling(PairKey pair) const;

  const BpeTraining& options_;
  TrainedBpe result_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<std::int32_t> symbols_;
  std::vector<SpelledWord> words_;
  PairTable<std::int64_t> counts_;  // never taken out: see merge()
  std::unordered_map<PairKey, std::vector<WordIndex>> grown_;
  std::vector<std::vector<WordIndex>> places_;
  std::priority_queue<Candidate> candidates_;
  std::vector<PairKey> merges_;
};

Merger::Merger(std::span<const CountedWord> words, const BpeTraining& options) : options_(options) {
  for (const std::string& text : options.special_tokens) token(text);
  spell(words);
  count_pairs();
}

std::int32_t Merger::token(const std::string& text) {
  const auto [found, is_new] = ids_.try_emplace(text, static_cast<std::int32_t>(size()));
  if (is_new) result_.vocabulary.push_back(text);
  return found->second;
}

std::set<char32_t> Merger::alphabet(std::span<const CountedWord> words) const {
  std::map<char32_t, std::int64_t> counts;
  for (const auto& [text, count] : words)
    for (std::size_t at = 0; at < text.size();) counts[read_code_point(text, at)] += count;
  for (const char32_t c : options_.initial_alphabet) counts[c] = std::numeric_limits<std::int64_t>::max();
  std::vector<std::pair<char32_t, std::int64_t>> ranked(counts.begin(), counts.end());
  std::ranges::stable_sort(ranked, std::greater{}, &std::pair<char32_t, std::int64_t>::second);
  if (options_.limit_alphabet)
    ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(*options_.limit_alphabet)));
  std::set<char32_t> kept;
  for (const auto& [c, count] : ranked) kept.insert(c);
  return kept;
}

// Characters outside the alphabet are left out of the words.
void Merger::spell(std::span<const CountedWord> words) {
  const std::set<char32_t> kept = alphabet(words);
  std::unordered_map<char32_t, std::int32_t> beginning, continuing;
  for (const char32_t c : kept) beginning[c] = token(text_of(c));
  if (!options_.continuing_subword_prefix.empty()) {
    std::set<char32_t> found;
    for (const CountedWord& word : words)
      for (std::size_t at = 0; at < word.text.size();) {
        const bool is_first = at == 0;
        const char32_t c = read_code_point(word.text, at);
        if (!is_first && kept.contains(c)) found.insert(c);
      }
    for (const char32_t c : found) continuing[c] = token(options_.continuing_subword_prefix + text_of(c));
  }
  const auto& inside = continuing.empty() ? beginning : continuing;
  for (const auto& [text, count] : words) {
    const std::size_t begin = symbols_.size();
    for (std::size_t at = 0; at < text.size();) {
      const auto& ids = at == 0 ? beginning : inside;
      if (const auto id = ids.find(read_code_point(text, at)); id != ids.end()) symbols_.push_back(id->second);
    }
    words_.push_back({begin, static_cast<std::uint32_t>(symbols_.size() - begin), count});
  }
}

void Merger::count_pairs() {
  for (WordIndex word = 0; word < words_.size(); ++word) {
    const SpelledWord& spelled = words_[word];
    for (std::size_t at = spelled.begin; at + 1 < spelled.begin + spelled.length; ++at)
      change(symbols_[at], symbols_[at + 1], spelled.count, word);
  }
  push_grown();
}

TrainedBpe Merger::run() {
  const std::int64_t first = size(), wanted = std::max<std::int64_t>(1, options_.vocab_size - first);
  while (size() < options_.vocab_size && !candidates_.empty()) {
    Candidate best = candidates_.top();
    candidates_.pop();
    if (const std::int64_t count = *counts_.find(best.pair); count != best.count) {
      best.count = count;
      candidates_.push(best);
      continue;
    }
    if (best.count < std::max(options_.min_frequency, std::int64_t{1})) break;
    merge(best);
    if (options_.progress && size() % kProgressStep == 0)
      options_.progress(static_cast<double>(size() - first) / static_cast<double>(wanted));
  }
  if (options_.progress) options_.progress(1);
  std::set<PairKey> later;  // where a pair was merged more than once, the last merge counts
  for (auto pair = merges_.rbegin(); pair != merges_.rend(); ++pair)
    if (later.insert(*pair).second)
      result_.merges.emplace_back(result_.vocabulary[static_cast<std::size_t>(left_of(*pair))],
                                  result_.vocabulary[static_cast<std::size_t>(right_of(*pair))]);
  std::ranges::reverse(result_.merges);
  return std::move(result_);
}

std::string Merger::spelling(PairKey pair) const {
  std::string_view rest = result_.vocabulary[static_cast<std::size_t>(right_of(pair))];
  const std::string_view prefix = options_.continuing_subword_prefix;
  if (!prefix.empty() && rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  return result_.vocabulary[static_cast<std::size_t>(left_of(pair))] + std::string(rest);
}

// As in the library, the count of the merged pair itself stays as it is: if the pair comes about anew, its old count
// makes it the next to be merged.
void Merger::merge(const Candidate& candidate) {
  const std::int32_t merged = token(spelling(candidate.pair));
  merges_.push_back(candidate.pair);
  const std::vector<WordIndex> words = std::move(places_[candidate.words]);
  for (const WordIndex word : words) merge_in_word(word, candidate.pair, merged);
  push_grown();
}

void Merger::merge_in_word(WordIndex word, PairKey pair, std::int32_t merged) {
  SpelledWord& spelled = words_[word];
  const std::int32_t left = left_of(pair), right = right_of(pair);
  const std::span<std::int32_t> symbols(symbols_.data() + spelled.begin, spelled.length);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < symbols.size(); ++kept) {
    if (at + 1 == symbols.size() || symbols[at] != left || symbols[at + 1] != right) {
      symbols[kept] = symbols[at++];
      continue;
    }
    if (kept > 0) {
      change(symbols[kept - 1], left, -spelled.count, word);
      change(symbols[kept - 1], merged, spelled.count, word);
    }
    at += 2;
    if (at < symbols.size()) {
      change(right, symbols[at], -spelled.count, word);
      change(merged, symbols[at], spelled.count, word);
    }
    symbols[kept] = merged;
  }
  spelled.length = static_cast<std::uint32_t>(kept);
}

void Merger::change(std::int32_t left, std::int32_t right, std::int64_t by, WordIndex word) {
  const PairKey pair = pair_key(left, right);
  counts_[pair] += by;
  if (by < 0) return;
  std::vector<WordIndex>& words = grown_[pair];
  if (words.empty() || words.back() != word) words.push_back(word);
}

void Merger::push_grown() {
  for (auto& [pair, words] : grown_) {
    const std::int64_t count = *counts_.find(pair);
    if (count <= 0) continue;
    candidates_.push({count, pair, places_.size()});
    places_.push_back(std::move(words));
  }
  grown_.clear();
}

}  // namespace

TrainedBpe train_bpe(std::span<const CountedWord> words, const BpeTraining& options) {
  check(options.vocab_size > 0, "a vocabulary of {} tokens cannot be trained: vocab_size must be at least 1",
        options.vocab_size);
  check(!options.limit_alphabet || *options.limit_alphabet > 0,
        "an alphabet of {} characters cannot spell a word: limit_alphabet must be at least 1",
        options.limit_alphabet.value_or(0));
  return Merger(words, options).run();
}

}  // namespace hearth::tokenizer
