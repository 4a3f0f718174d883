#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tokenizer {

inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// A token's place in its text, [begin, end), in Unicode code points. Special tokens have {0, 0}.
struct Offset {
  std::int32_t begin = 0, end = 0;
  bool operator==(const Offset&) const = default;
};

struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<Offset> offsets;
  std::vector<std::int8_t> sequence;  // which text a token is from: 0, 1, or -1 for a special token
};

// What the tokens of one text are before special tokens are put around them.
struct Pieces {
  std::vector<std::int32_t> ids;
  std::vector<Offset> offsets;
};

// Turns text into ids as Hugging Face's fast tokenizers do, offsets and overflow included. Thread-safe once made.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual Pieces pieces(std::string_view text) const = 0;
  virtual std::string decode(const std::vector<std::int32_t>& ids, bool skip_special_tokens) const = 0;
  virtual std::int64_t vocab_size() const = 0;
  virtual std::int32_t cls_id() const = 0;
  virtual std::int32_t pad_id() const = 0;
  virtual std::int64_t model_max_length() const = 0;  // or kUnlimited
  // How many special tokens one text (or a pair) gets.
  virtual std::int64_t special_tokens(bool pair) const = 0;
  virtual Encoding build(const Pieces& first) const = 0;
  virtual Encoding build(const Pieces& first, const Pieces& second) const = 0;
  // Writes tokenizer.json, tokenizer_config.json, special_tokens_map.json, vocab.txt, as save_pretrained does.
  virtual void save(const std::filesystem::path& folder) const = 0;

  Encoding encode(std::string_view text) const;
  Encoding encode(std::string_view first, std::string_view second) const;
  // truncation="only_second" with overflow: as many encodings as it takes, each at most max_length long, the second
  // text's windows overlapping by `stride` tokens.
  std::vector<Encoding> encode_windows(const Pieces& first, const Pieces& second, std::int64_t max_length,
                                       std::int64_t stride) const;
};

// From a model folder: tokenizer.json, else vocab.txt, with tokenizer_config.json where there is one.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);
// From a vocab.txt alone: BERT's tokenizer with its usual settings.
std::shared_ptr<const Tokenizer> load_vocabulary(const std::filesystem::path& file, bool lowercase);

}  // namespace hearth::tokenizer
