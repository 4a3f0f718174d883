// Substrings are found in the sorted suffixes of all words: the suffixes that begin with a substring are neighbours,
// and a substring with several continuations is the longest common beginning of some of them (an interval of a suffix
// array). Suffixes are compared up to kDepth bytes; a word ends in a zero byte. UTF-8 keeps the order of code points.
#include "hearth/tokenizer/unigram_seeds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kKeyBytes = 8;  // of a suffix that are compared at once
constexpr std::size_t kBytesPerCharacter = 4;
constexpr std::size_t kBuckets = std::size_t{1} << 16;  // by the first two bytes

struct Suffix {
  std::uint64_t key;  // the bytes that decide now, the first one highest
  std::uint32_t at;
};

struct Substring {
  std::int64_t score;
  std::uint32_t at, bytes;
};

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

// The words, each followed by a zero byte. A zero byte inside a word ends it, too.
class Suffixes {
 public:
  Suffixes(std::span<const CountedWord> words, std::size_t longest);
  std::vector<Substring> substrings() const;
  std::string_view text(const Substring& substring) const {
    return std::string_view(text_).substr(substring.at, substring.bytes);
  }

 private:
  std::uint64_t key(std::size_t at) const;
  void fill_buckets();
  void sort(std::span<Suffix> suffixes, std::size_t depth) const;
  std::uint32_t common(std::size_t a, std::size_t b) const;
  void append_substrings(std::span<const Suffix> sorted, std::vector<Substring>& found) const;
  void append(std::span<const Suffix> interval, std::uint32_t bytes, std::vector<Substring>& found) const;

  std::size_t longest_, depth_;
  std::string text_;
  std::vector<Suffix> suffixes_;
  std::vector<std::size_t> begins_;  // of buckets
};

Suffixes::Suffixes(std::span<const CountedWord> words, std::size_t longest)
    : longest_(longest), depth_((longest + 1) * kBytesPerCharacter + kKeyBytes) {
  std::size_t bytes = depth_ + kKeyBytes;
  for (const CountedWord& word : words) bytes += word.text.size() + 1;
  check(bytes < UINT32_MAX,
        "the training texts have {} bytes of different words, more than can be sorted: give less text", bytes);
  text_.reserve(bytes);
  for (const CountedWord& word : words) (text_ += word.text) += '\0';
  text_.append(depth_ + kKeyBytes, '\0');
  fill_buckets();
  cpu::parallel_for(kBuckets, [&](std::int64_t i) {
    const auto bucket = static_cast<std::size_t>(i);
    sort(std::span(suffixes_).subspan(begins_[bucket], begins_[bucket + 1] - begins_[bucket]), 0);
  });
}

// Bytes behind the end of the word are zero.
std::uint64_t Suffixes::key(std::size_t at) const {
  std::uint64_t key = 0;
  bool has_ended = false;
  for (std::size_t i = 0; i < kKeyBytes; ++i) {
    has_ended = has_ended || text_[at + i] == '\0';
    key = key << 8 | (has_ended ? 0 : static_cast<unsigned char>(text_[at + i]));
  }
  return key;
}

void Suffixes::fill_buckets() {
  const auto bucket_of = [&](std::size_t at) {
    return std::size_t{static_cast<unsigned char>(text_[at])} << 8 | static_cast<unsigned char>(text_[at + 1]);
  };
  const auto begins_suffix = [&](std::size_t at) { return text_[at] != '\0' && !is_continuation(text_[at]); };
  begins_.assign(kBuckets + 1, 0);
  for (std::size_t at = 0; at + 1 < text_.size(); ++at)
    if (begins_suffix(at)) ++begins_[bucket_of(at) + 1];
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) begins_[bucket + 1] += begins_[bucket];
  suffixes_.resize(begins_.back());
  std::vector<std::size_t> next = begins_;
  for (std::size_t at = 0; at + 1 < text_.size(); ++at)
    if (begins_suffix(at)) suffixes_[next[bucket_of(at)]++] = {key(at), static_cast<std::uint32_t>(at)};
}

void Suffixes::sort(std::span<Suffix> suffixes, std::size_t depth) const {
  std::ranges::sort(suffixes, {}, [](const Suffix& suffix) { return std::tuple(suffix.key, suffix.at); });
  if (depth + kKeyBytes >= depth_) return;
  for (std::size_t begin = 0, end = 0; begin < suffixes.size(); begin = end) {
    while (end < suffixes.size() && suffixes[end].key == suffixes[begin].key) ++end;
    const bool has_ended = (suffixes[begin].key & 0xFFu) == 0;
    if (end - begin < 2 || has_ended) continue;
    const std::span<Suffix> equal = suffixes.subspan(begin, end - begin);
    for (Suffix& suffix : equal) suffix.key = key(suffix.at + depth + kKeyBytes);
    sort(equal, depth + kKeyBytes);
  }
}

// The bytes that two suffixes have in common, as whole characters; the end of a word counts as one.
std::uint32_t Suffixes::common(std::size_t a, std::size_t b) const {
  std::size_t bytes = 0;
  while (bytes < depth_ && text_[a + bytes] == text_[b + bytes] && text_[a + bytes] != '\0') ++bytes;
  if (text_[a + bytes] == text_[b + bytes] && text_[a + bytes] == '\0') return static_cast<std::uint32_t>(bytes + 1);
  while (bytes > 0 && is_continuation(text_[a + bytes])) --bytes;
  return static_cast<std::uint32_t>(bytes);
}

void Suffixes::append(std::span<const Suffix> interval, std::uint32_t bytes, std::vector<Substring>& found) const {
  const std::size_t at = interval.front().at;
  if (text_[at + bytes - 1] == '\0') return;
  const auto characters = static_cast<std::size_t>(count_code_points(std::string_view(text_).substr(at, bytes)));
  if (characters < 2 || characters > longest_) return;
  found.push_back({std::ssize(interval) * static_cast<std::int64_t>(characters), interval.front().at, bytes});
}

void Suffixes::append_substrings(std::span<const Suffix> sorted, std::vector<Substring>& found) const {
  struct Open {
    std::size_t begin;
    std::uint32_t bytes;
  };
  std::vector<Open> open{{0, 0}};
  for (std::size_t i = 1; i <= sorted.size(); ++i) {
    const std::uint32_t bytes = i < sorted.size() ? common(sorted[i - 1].at, sorted[i].at) : 0;
    std::size_t begin = i - 1;
    while (open.back().bytes > bytes) {
      begin = open.back().begin;
      append(sorted.subspan(begin, i - begin), open.back().bytes, found);
      open.pop_back();
    }
    if (open.back().bytes < bytes) open.push_back({begin, bytes});
  }
}

std::vector<Substring> Suffixes::substrings() const {
  std::vector<std::vector<Substring>> by_bucket(kBuckets);
  cpu::parallel_for(kBuckets, [&](std::int64_t i) {
    const auto bucket = static_cast<std::size_t>(i);
    append_substrings(std::span(suffixes_).subspan(begins_[bucket], begins_[bucket + 1] - begins_[bucket]),
                      by_bucket[bucket]);
  });
  std::vector<Substring> all;
  for (const auto& found : by_bucket) all.insert(all.end(), found.begin(), found.end());
  return all;
}

std::vector<ScoredToken> characters_of(std::span<const CountedWord> words) {
  std::map<char32_t, std::int64_t> counts;
  for (const auto& [text, count] : words)
    for (std::size_t at = 0; at < text.size();) counts[read_code_point(text, at)] += count;
  counts.erase(U'\0');
  std::vector<std::pair<std::int64_t, char32_t>> ranked;
  for (const auto& [c, count] : counts) ranked.emplace_back(count, c);
  std::ranges::sort(ranked, std::greater{});
  std::vector<ScoredToken> pieces;
  for (const auto& [count, c] : ranked) {
    pieces.push_back({"", static_cast<double>(count)});
    io::append_utf8(pieces.back().text, c);
  }
  return pieces;
}

}  // namespace

std::vector<ScoredToken> unigram_seeds(std::span<const CountedWord> words, const UnigramSeeds& options) {
  std::vector<ScoredToken> pieces = characters_of(words);
  const Suffixes suffixes(words, static_cast<std::size_t>(options.longest));
  std::vector<Substring> found = suffixes.substrings();
  const auto is_better = [&](const Substring& a, const Substring& b) {
    return a.score != b.score ? a.score > b.score : suffixes.text(a) > suffixes.text(b);
  };
  const std::size_t room = static_cast<std::size_t>(std::max<std::int64_t>(1, options.most - std::ssize(pieces)));
  if (found.size() > room) {
    std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(room), is_better);
    found.resize(room);
  }
  std::ranges::sort(found, is_better);
  for (const Substring& substring : found)
    pieces.push_back({std::string(suffixes.text(substring)), static_cast<double>(substring.score)});
  double sum = 0;
  for (const ScoredToken& piece : pieces) sum += piece.score;
  for (ScoredToken& piece : pieces) piece.score = std::log(piece.score) - std::log(sum);
  return pieces;
}

}  // namespace hearth::tokenizer
