#include <algorithm>
#include <charconv>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/characters.h"
#include "hearth/tokenizer/decoder.h"
#include "hearth/tokenizer/metaspace.h"
#include "hearth/tokenizer/node_table.h"
#include "hearth/tokenizer/replacement.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

using io::Json;
using DecoderPtr = std::unique_ptr<Decoder>;
using Tokens = std::vector<std::string>;

constexpr std::string_view kBadBytes = "\uFFFD";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// The clean-up of Hugging Face's WordPiece decoder, token by token: it mostly joins punctuation to the word before it.
void clean_up(std::string& token) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [what, by] : kReplacements) replace_all(token, what, by);
}

// Every sequence of bytes that is not UTF-8 becomes one U+FFFD, as in Rust: a sequence ends at the first byte that
// cannot continue it.
std::string valid_utf8(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    if (io::next_code_point(bytes, at) != io::kNotUtf8) {
      text += bytes.substr(begin, at - begin);
      continue;
    }
    const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
    const unsigned lead = byte(at), second = byte(at + 1);
    const std::size_t length = 0xC2 <= lead && lead <= 0xDF   ? 2
                               : 0xE0 <= lead && lead <= 0xEF ? 3
                               : 0xF0 <= lead && lead <= 0xF4 ? 4
                                                              : 1;
    const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    ++at;
    if (length > 1 && least <= second && second <= most) {
      ++at;
      for (std::size_t i = 2; i < length && (byte(at) & 0xC0u) == 0x80u; ++i) ++at;
    }
    text += kBadBytes;
  }
  return text;
}

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleans_up) : prefix_(std::move(prefix)), cleans_up_(cleans_up) {}
  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        if (tokens[i].starts_with(prefix_))
          tokens[i].erase(0, prefix_.size());
        else
          tokens[i].insert(tokens[i].begin(), ' ');
      }
      if (cleans_up_) clean_up(tokens[i]);
    }
    return tokens;
  }

 private:
  std::string prefix_;
  bool cleans_up_;
};

class ByteLevelDecoder final : public Decoder {
 public:
  Tokens decode(Tokens tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) append(token, bytes);
    return {valid_utf8(bytes)};
  }

 private:
  // A token with other characters, such as a special one, is taken as it stands.
  static void append(const std::string& token, std::string& bytes) {
    std::string spelled;
    for (std::size_t at = 0; at < token.size();) {
      const auto byte = byte_of_character(read_code_point(token, at));
      if (!byte) {
        bytes += token;
        return;
      }
      spelled += *byte;
    }
    bytes += spelled;
  }
};

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(Metaspace options) : options_(std::move(options)) {}
  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool drops = i == 0 && options_.prepend != Metaspace::Prepend::never;
      replace_all(tokens[i], options_.replacement, drops ? "" : " ");
    }
    return tokens;
  }

 private:
  Metaspace options_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    return tokens;
  }

 private:
  std::string suffix_;
};

// Bytes that are no UTF-8 together become as many U+FFFD.
class ByteFallbackDecoder final : public Decoder {
 public:
  Tokens decode(Tokens tokens) const override {
    Tokens result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (io::is_utf8(bytes))
        result.push_back(bytes);
      else
        result.insert(result.end(), bytes.size(), std::string(kBadBytes));
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of_token(token)) {
        bytes += *byte;
      } else {
        flush();
        result.push_back(std::move(token));
      }
    }
    flush();
    return result;
  }

 private:
  static std::optional<char> byte_of_token(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
    std::string_view digits = token.substr(3, 2);
    if (digits[0] == '+') digits.remove_prefix(1);  // Rust takes a sign, too
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return static_cast<char>(value);
  }
};

class FuseDecoder final : public Decoder {
 public:
  Tokens decode(Tokens tokens) const override {
    std::string text;
    for (const std::string& token : tokens) text += token;
    return {text};
  }
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(const Json& node, const std::string& where) : replacement_(node, where) {}
  Tokens decode(Tokens tokens) const override {
    std::vector<std::int32_t> origins;
    for (std::string& token : tokens) {
      Characters characters = decode_utf8(token, 0);
      replacement_.apply(characters);
      token.clear();
      origins.clear();
      encode_utf8(characters, token, origins);
    }
    return tokens;
  }

 private:
  Replacement replacement_;
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string content, std::int64_t start, std::int64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  Tokens decode(Tokens tokens) const override {
    for (std::string& token : tokens) {
      for (std::int64_t i = 0; i < start_ && token.starts_with(content_); ++i) token.erase(0, content_.size());
      for (std::int64_t i = 0; i < stop_ && token.ends_with(content_); ++i)
        token.resize(token.size() - content_.size());
    }
    return tokens;
  }

 private:
  std::string content_;
  std::int64_t start_, stop_;
};

class CtcDecoder final : public Decoder {
 public:
  CtcDecoder(std::string pad, std::string delimiter, bool cleans_up)
      : pad_(std::move(pad)), delimiter_(std::move(delimiter)), cleans_up_(cleans_up) {}
  Tokens decode(Tokens tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      replace_all(token, pad_, "");
      if (!cleans_up_) continue;
      clean_up(token);
      replace_all(token, delimiter_, " ");
    }
    std::erase(tokens, "");
    return tokens;
  }

 private:
  std::string pad_, delimiter_;
  bool cleans_up_;
};

class SequenceDecoder final : public Decoder {
 public:
  explicit SequenceDecoder(std::vector<DecoderPtr> steps) : steps_(std::move(steps)) {}
  Tokens decode(Tokens tokens) const override {
    for (const DecoderPtr& step : steps_) tokens = step->decode(std::move(tokens));
    return tokens;
  }

 private:
  std::vector<DecoderPtr> steps_;
};

DecoderPtr make_sequence(const Json& node, const std::string& where) {
  std::vector<DecoderPtr> steps;
  for (const Json& step : nodes_of(node, "decoders", where)) steps.push_back(make_decoder(step, where));
  return std::make_unique<SequenceDecoder>(std::move(steps));
}

DecoderPtr make_strip(const Json& node, const std::string& where) {
  std::string content = io::get_string(node, "content", where);
  check(count_code_points(content) == 1, "{}: \"content\" is not one character", where);
  const auto count = [&](std::string_view key) { return io::get_int_within(node, key, 0, INT32_MAX, where); };
  return std::make_unique<StripDecoder>(std::move(content), count("start"), count("stop"));
}

template <class Plain>
DecoderPtr make_plain(const Json&, const std::string&) {
  return std::make_unique<Plain>();
}

constexpr NodeType<Decoder> kTypes[] = {
    {"BPEDecoder",
     [](const Json& node, const std::string& where) -> DecoderPtr {
       return std::make_unique<BpeDecoder>(io::get_string(node, "suffix", where));
     }},
    {"ByteFallback", make_plain<ByteFallbackDecoder>},
    {"ByteLevel", make_plain<ByteLevelDecoder>},
    {"CTC",
     [](const Json& node, const std::string& where) -> DecoderPtr {
       return std::make_unique<CtcDecoder>(io::get_string(node, "pad_token", where),
                                           io::get_string(node, "word_delimiter_token", where),
                                           io::get_bool(node, "cleanup", where));
     }},
    {"Fuse", make_plain<FuseDecoder>},
    {"Metaspace",
     [](const Json& node, const std::string& where) -> DecoderPtr {
       return std::make_unique<MetaspaceDecoder>(read_metaspace(node, where));
     }},
    {"Replace",
     [](const Json& node, const std::string& where) -> DecoderPtr {
       return std::make_unique<ReplaceDecoder>(node, where);
     }},
    {"Sequence", make_sequence},
    {"Strip", make_strip},
    {"WordPiece",
     [](const Json& node, const std::string& where) -> DecoderPtr {
       return std::make_unique<WordPieceDecoder>(io::get_string_or(node, "prefix", "##", where),
                                                 io::get_bool_or(node, "cleanup", true, where));
     }},
};

}  // namespace

DecoderPtr make_decoder(const Json& node, const std::string& where) { return make_node<Decoder>(kTypes, node, where); }

}  // namespace hearth::tokenizer
