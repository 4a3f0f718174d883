#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/metaspace.h"
#include "hearth/tokenizer/node_table.h"
#include "hearth/tokenizer/pre_tokenizer.h"
#include "hearth/tokenizer/splitting.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/word_scanner.h"

namespace hearth::tokenizer {
namespace {

using io::Json;
using PreTokenizerPtr = std::unique_ptr<PreTokenizer>;

bool is_space(char32_t c) { return has_trait(c, kSpace); }
bool is_punctuation(char32_t c) { return has_trait(c, kPunctuation); }
bool is_numeric(char32_t c) { return has_trait(c, kNumeric); }

class WhitespaceSplit final : public PreTokenizer {
 public:
  void split(Words& words) const override { split_at_characters(words, Delimiters::removed, is_space); }
};

class BertPreTokenizer final : public PreTokenizer {
 public:
  void split(Words& words) const override {
    split_at_characters(words, Delimiters::removed, is_space);
    split_at_characters(words, Delimiters::isolated, is_punctuation);
  }
};

// \w+|[^\w\s]+
class Whitespace final : public PreTokenizer {
 public:
  void split(Words& words) const override {
    std::vector<ByteRange> ranges;
    for (const ByteRange& range : words.ranges()) {
      std::uint32_t last = kSpace;
      for (std::size_t at = range.begin; at < range.end;) {
        const std::size_t here = at;
        const std::uint32_t kind = kind_of(read_code_point(words.text(), at));
        if (kind == kSpace) {
        } else if (kind == last) {
          ranges.back().end = at;
        } else {
          ranges.push_back({here, at});
        }
        last = kind;
      }
    }
    words.split(std::move(ranges));
  }

 private:
  static std::uint32_t kind_of(char32_t c) {
    return character_traits()[c] & kSpace ? kSpace : character_traits()[c] & kWordCharacter;
  }
};

class Digits final : public PreTokenizer {
 public:
  explicit Digits(bool individually) : delimiters_(individually ? Delimiters::isolated : Delimiters::contiguous) {}
  void split(Words& words) const override { split_at_characters(words, delimiters_, is_numeric); }

 private:
  Delimiters delimiters_;
};

class Punctuation final : public PreTokenizer {
 public:
  explicit Punctuation(Delimiters delimiters) : delimiters_(delimiters) {}
  void split(Words& words) const override { split_at_characters(words, delimiters_, is_punctuation); }

 private:
  Delimiters delimiters_;
};

class CharDelimiterSplit final : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}
  void split(Words& words) const override {
    split_at_characters(words, Delimiters::removed, [this](char32_t c) { return c == delimiter_; });
  }

 private:
  char32_t delimiter_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::int64_t length) : length_(length) {}
  void split(Words& words) const override {
    std::vector<ByteRange> ranges;
    for (const ByteRange& range : words.ranges())
      for (std::size_t begin = range.begin, at = begin; begin < range.end; begin = at) {
        for (std::int64_t i = 0; i < length_ && at < range.end; ++i) read_code_point(words.text(), at);
        ranges.push_back({begin, at});
      }
    words.split(std::move(ranges));
  }

 private:
  std::int64_t length_;
};

void append_scanned(const WordScanner& scanner, std::string_view text, std::size_t begin,
                    std::vector<ByteRange>& ranges) {
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = scanner.end_of_word(text, at);
    ranges.push_back({begin + at, begin + end});
  }
}

void split_scanned(const WordScanner& scanner, Words& words) {
  std::vector<ByteRange> ranges;
  for (const ByteRange& range : words.ranges()) append_scanned(scanner, words.text(range), range.begin, ranges);
  words.split(std::move(ranges));
}

// Split by a regular expression that matches at every place.
class ScannedSplit final : public PreTokenizer {
 public:
  ScannedSplit(WordScanner scanner, Delimiters delimiters, bool invert)
      : scanner_(scanner), delimiters_(delimiters), invert_(invert) {}
  void split(Words& words) const override {
    if (delimiters_ == (invert_ ? Delimiters::removed : Delimiters::isolated)) return split_scanned(scanner_, words);
    split_each(words, delimiters_, [this](std::string_view text, std::size_t begin, std::vector<Match>& matches) {
      std::vector<ByteRange> ranges;
      append_scanned(scanner_, text, begin, ranges);
      for (const ByteRange& range : ranges) matches.push_back({range, !invert_});
    });
  }

 private:
  WordScanner scanner_;
  Delimiters delimiters_;
  bool invert_;
};

class StringSplit final : public PreTokenizer {
 public:
  StringSplit(std::string pattern, Delimiters delimiters, bool invert)
      : pattern_(std::move(pattern)), delimiters_(delimiters), invert_(invert) {}
  void split(Words& words) const override {
    split_each(words, delimiters_, [this](std::string_view text, std::size_t begin, std::vector<Match>& matches) {
      std::size_t done = 0;
      for (std::size_t at = text.find(pattern_); at != text.npos; at = text.find(pattern_, done)) {
        if (done < at) matches.push_back({{begin + done, begin + at}, invert_});
        done = at + pattern_.size();
        matches.push_back({{begin + at, begin + done}, !invert_});
      }
      if (done < text.size()) matches.push_back({{begin + done, begin + text.size()}, invert_});
    });
  }

 private:
  std::string pattern_;
  Delimiters delimiters_;
  bool invert_;
};

// A text that is written anew, word by word.
struct Rewriting {
  std::string text;
  std::vector<std::int32_t> origins;
  std::vector<ByteRange> ranges;

  void append(std::string_view bytes, std::int32_t origin) {
    text += bytes;
    origins.resize(text.size(), origin);
  }
  void copy(const Words& words, ByteRange range) {
    text += words.text(range);
    for (std::size_t at = range.begin; at < range.end; ++at) origins.push_back(words.origin(at));
  }
  void end_word(std::size_t begin) {
    if (begin < text.size()) ranges.push_back({begin, text.size()});
  }
};

// Byte-level BPE: words are split as GPT-2 does and written in the alphabet of bytes.
class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex) : add_prefix_space_(add_prefix_space), use_regex_(use_regex) {}

  void split(Words& words) const override {
    if (add_prefix_space_) add_prefix_spaces(words);
    if (use_regex_) split_scanned(gpt2_scanner(), words);
    if (!leaves_bytes_) write_in_alphabet(words);
  }
  bool ends_in_bytes() const override { return true; }
  void leave_bytes() override { leaves_bytes_ = true; }

 private:
  static void add_prefix_spaces(Words& words) {
    const auto lacks_space = [&](const ByteRange& range) { return words.text()[range.begin] != ' '; };
    if (std::ranges::none_of(words.ranges(), lacks_space)) return;
    Rewriting result;
    for (const ByteRange& range : words.ranges()) {
      const std::size_t begin = result.text.size();
      if (lacks_space(range)) result.append(" ", words.origin(range.begin));
      result.copy(words, range);
      result.end_word(begin);
    }
    words.rewrite(std::move(result.text), std::move(result.origins), std::move(result.ranges));
  }

  static void write_in_alphabet(Words& words) {
    Rewriting result;
    for (const ByteRange& range : words.ranges()) {
      const std::size_t begin = result.text.size();
      for (std::size_t at = range.begin; at < range.end; ++at) {
        io::append_utf8(result.text, character_of_byte(words.text()[at]));
        result.origins.resize(result.text.size(), words.origin(at));
      }
      result.end_word(begin);
    }
    words.rewrite(std::move(result.text), std::move(result.origins), std::move(result.ranges));
  }

  bool add_prefix_space_, use_regex_, leaves_bytes_ = false;
};

// SentencePiece's way to keep spaces: each becomes a visible character, which begins a word.
class MetaspaceSplit final : public PreTokenizer {
 public:
  explicit MetaspaceSplit(Metaspace options) : options_(std::move(options)) {}

  void split(Words& words) const override {
    Rewriting result;
    result.text.reserve(words.text().size() * 2);
    result.origins.reserve(words.text().size() * 2);
    for (const ByteRange& range : words.ranges()) append(words, range, result);
    words.rewrite(std::move(result.text), std::move(result.origins), std::move(result.ranges));
  }

 private:
  void append(const Words& words, ByteRange range, Rewriting& result) const {
    const std::string_view text = words.text(range), mark = options_.replacement;
    std::size_t begin = result.text.size();
    if (is_prepended(words, range)) result.append(mark, words.origin(range.begin));
    for (std::size_t at = 0; at < text.size();) {
      const bool is_space = text[at] == ' ', is_mark = !is_space && text.substr(at).starts_with(mark);
      if (is_space || is_mark) {
        if (options_.split) {
          result.end_word(begin);
          begin = result.text.size();
        }
        result.append(mark, words.origin(range.begin + at));
        at += is_space ? 1 : mark.size();
        continue;
      }
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != ' ' && text[end] != mark[0]) ++end;
      result.copy(words, {range.begin + at, range.begin + end});
      at = end;
    }
    result.end_word(begin);
  }

  bool is_prepended(const Words& words, ByteRange range) const {
    if (options_.prepend == Metaspace::Prepend::never) return false;
    if (options_.prepend == Metaspace::Prepend::first && words.origin(range.begin) != 0) return false;
    const std::string_view text = words.text(range);
    return !text.starts_with(' ') && !text.starts_with(options_.replacement);
  }

  Metaspace options_;
};

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(std::vector<PreTokenizerPtr> steps) : steps_(std::move(steps)) {}
  void split(Words& words) const override {
    for (const PreTokenizerPtr& step : steps_) step->split(words);
  }
  bool ends_in_bytes() const override { return !steps_.empty() && steps_.back()->ends_in_bytes(); }
  void leave_bytes() override { steps_.back()->leave_bytes(); }

 private:
  std::vector<PreTokenizerPtr> steps_;
};

PreTokenizerPtr make_split(const Json& node, const std::string& where) {
  const Delimiters delimiters = delimiters_named(node, "behavior", where);
  const bool invert = io::get_bool_or(node, "invert", false, where);
  const auto pattern = node.find("pattern");
  check(pattern != node.end() && pattern->is_object(), "{}: \"pattern\" must be an object", where);
  if (pattern->contains("String")) {
    std::string text = io::get_string(*pattern, "String", where);
    check(!text.empty(), "{}: the pattern is empty", where);
    return std::make_unique<StringSplit>(std::move(text), delimiters, invert);
  }
  const std::string regex = io::get_string(*pattern, "Regex", where);
  const auto scanner = scanner_of(regex);
  check(scanner.has_value(),
        "{}: the regular expression {} is not supported; known are those of GPT-2, Qwen and Llama 3", where,
        io::excerpt(regex));
  return std::make_unique<ScannedSplit>(*scanner, delimiters, invert);
}

PreTokenizerPtr make_byte_level(const Json& node, const std::string& where) {
  return std::make_unique<ByteLevel>(io::get_bool(node, "add_prefix_space", where),
                                     io::get_bool_or(node, "use_regex", true, where));
}

PreTokenizerPtr make_delimiter(const Json& node, const std::string& where) {
  const std::string text = io::get_string(node, "delimiter", where);
  std::size_t end = 0;
  check(!text.empty() && (read_code_point(text, end), end == text.size()), "{}: \"delimiter\" is not one character",
        where);
  std::size_t at = 0;
  return std::make_unique<CharDelimiterSplit>(read_code_point(text, at));
}

PreTokenizerPtr make_sequence(const Json& node, const std::string& where) {
  std::vector<PreTokenizerPtr> steps;
  for (const Json& step : nodes_of(node, "pretokenizers", where)) steps.push_back(make_pre_tokenizer(step, where));
  return std::make_unique<Sequence>(std::move(steps));
}

template <class Plain>
PreTokenizerPtr make_plain(const Json&, const std::string&) {
  return std::make_unique<Plain>();
}

constexpr NodeType<PreTokenizer> kTypes[] = {
    {"BertPreTokenizer", make_plain<BertPreTokenizer>},
    {"ByteLevel", make_byte_level},
    {"CharDelimiterSplit", make_delimiter},
    {"Digits",
     [](const Json& node, const std::string& where) -> PreTokenizerPtr {
       return std::make_unique<Digits>(io::get_bool(node, "individual_digits", where));
     }},
    {"FixedLength",
     [](const Json& node, const std::string& where) -> PreTokenizerPtr {
       constexpr std::int64_t kDefault = 5;
       const std::int64_t length = io::get_int_or(node, "length", kDefault, where);
       check(length > 0, "{}: \"length\" must be more than 0", where);
       return std::make_unique<FixedLength>(length);
     }},
    {"Metaspace",
     [](const Json& node, const std::string& where) -> PreTokenizerPtr {
       return std::make_unique<MetaspaceSplit>(read_metaspace(node, where));
     }},
    {"Punctuation",
     [](const Json& node, const std::string& where) -> PreTokenizerPtr {
       return std::make_unique<Punctuation>(node.contains("behavior") ? delimiters_named(node, "behavior", where)
                                                                      : Delimiters::isolated);
     }},
    {"Sequence", make_sequence},
    {"Split", make_split},
    {"Whitespace", make_plain<Whitespace>},
    {"WhitespaceSplit", make_plain<WhitespaceSplit>},
};

}  // namespace

PreTokenizerPtr make_pre_tokenizer(const Json& node, const std::string& where) {
  return make_node<PreTokenizer>(kTypes, node, where);
}

}  // namespace hearth::tokenizer
