#include "hearth/tokenizer/word_counter.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"
#include "hearth/io/text_buffer.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/pre_tokenizer.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/word_reader.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;  // bytes that a thread counts at a time
constexpr std::size_t kBlock = std::size_t{1} << 25;  // bytes whose counts are added up together

// Ends of chunks: each has texts of kChunk bytes, the last may have fewer.
std::vector<std::size_t> chunk_ends(std::span<const std::string_view> texts) {
  std::vector<std::size_t> ends;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    bytes += texts[i].size() + 1;
    if (bytes < kChunk && i + 1 < texts.size()) continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  return ends;
}

}  // namespace

// Splits texts as the tokenizer does. BERT's nodes take the tokenizer's fast path; words of byte-level BPE stay bytes
// until spelled() writes them in the alphabet of bytes.
class WordCounter::Splitter {
 public:
  explicit Splitter(const io::Json& tokenizer) {
    if (const auto node = tokenizer.find("normalizer"); node != tokenizer.end() && !node->is_null())
      normalizer_ = make_normalizer(*node, "the normalizer");
    if (const auto node = tokenizer.find("pre_tokenizer"); node != tokenizer.end() && !node->is_null()) {
      pre_tokenizer_ = make_pre_tokenizer(*node, "the pre-tokenizer");
      if ((*node)["type"] == "BertPreTokenizer") bert_ = dynamic_cast<const BertNormalizer*>(normalizer_.get());
    }
    leaves_bytes_ = pre_tokenizer_ && pre_tokenizer_->ends_in_bytes();
    if (leaves_bytes_) pre_tokenizer_->leave_bytes();
  }

  template <class Use>
  void split(std::string_view text, const Use& use) const {
    if (bert_) {
      WordReader words(*bert_, text, 0);
      for (Word word; words.next(word);) use(word.text);
      return;
    }
    std::string repaired, normal;
    if (!io::is_utf8(text)) text = repaired = with_replacements(text);
    if (normalizer_ && normalizer_->changes(text)) text = normal = normalized(normalizer_.get(), text);
    Words words(text, nullptr, 0);
    if (pre_tokenizer_) pre_tokenizer_->split(words);
    for (const ByteRange& range : words.ranges()) use(words.text(range));
  }

  std::string spelled(const std::string& word) const {
    if (!leaves_bytes_) return word;
    std::string text;
    for (const char byte : word) io::append_utf8(text, character_of_byte(byte));
    return text;
  }

 private:
  std::unique_ptr<Normalizer> normalizer_;
  std::unique_ptr<PreTokenizer> pre_tokenizer_;
  const BertNormalizer* bert_ = nullptr;
  bool leaves_bytes_ = false;
};

WordCounter::WordCounter(const io::Json& tokenizer) : splitter_(std::make_unique<Splitter>(tokenizer)) {}
WordCounter::~WordCounter() = default;

void WordCounter::count(std::span<const std::string_view> texts, Shards& shards) const {
  for (const std::string_view text : texts)
    splitter_->split(text, [&](std::string_view word) {
      Counts& counts = shards[Hash{}(word) % kShards];
      const auto found = counts.find(word);
      if (found == counts.end())
        counts.emplace(word, 1);
      else
        ++found->second;
    });
}

void WordCounter::add(std::span<const std::string_view> texts) {
  const std::vector<std::size_t> ends = chunk_ends(texts);
  std::vector<Shards> counted(ends.size());
  cpu::parallel_for(std::ssize(ends), [&](std::int64_t i) {
    const auto chunk = static_cast<std::size_t>(i);
    const std::size_t begin = chunk == 0 ? 0 : ends[chunk - 1];
    count(texts.subspan(begin, ends[chunk] - begin), counted[chunk]);
  });
  cpu::parallel_for(kShards, [&](std::int64_t i) {
    const auto shard = static_cast<std::size_t>(i);
    for (Shards& shards : counted)
      for (const auto& [word, count] : shards[shard]) counts_[shard][word] += count;
  });
}

void WordCounter::add_file(const std::filesystem::path& file) {
  io::TextBuffer text(file);
  for (bool is_whole = false; !is_whole;) {
    while (!is_whole && text.view().size() < kBlock) is_whole = !text.grow();
    std::string_view block = text.view();
    while (!is_whole && block.find('\n') == block.npos) {  // a line that is longer than a block
      is_whole = !text.grow();
      block = text.view();
    }
    if (!is_whole) block = block.substr(0, block.rfind('\n') + 1);
    const std::size_t bytes = block.size();
    std::vector<std::string_view> lines;
    while (!block.empty()) {
      lines.push_back(block.substr(0, std::min(block.find('\n'), block.size() - 1) + 1));
      block.remove_prefix(lines.back().size());
    }
    add(lines);
    text.consume(bytes);
  }
}

std::vector<CountedWord> WordCounter::words() const {
  std::vector<CountedWord> words;
  for (const Counts& counts : counts_)
    for (const auto& [word, count] : counts) words.push_back({splitter_->spelled(word), count});
  check(!words.empty(), "the training texts have no words: give files with text");
  std::ranges::sort(words, {}, &CountedWord::text);
  return words;
}

}  // namespace hearth::tokenizer
