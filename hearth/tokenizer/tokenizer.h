#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::tokenizer {

inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// A token's place in its text, [begin, end), in Unicode code points; {0, 0} for special tokens.
struct Offset {
  std::int32_t begin = 0, end = 0;
  bool operator==(const Offset&) const = default;
};

struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<Offset> offsets;
  std::vector<std::int8_t> sequence;  // the text that a token is from: 0 or 1; -1 for a special token
};

// The tokens of one text, without the special tokens around them.
struct TokenizedText {
  std::vector<std::int32_t> ids;
  std::vector<Offset> offsets;
};
HEARTH_API TokenizedText slice(const TokenizedText& pieces, std::int64_t begin, std::int64_t end);

// The numbers of tokens that a pair of texts keeps.
struct PairLengths {
  std::int64_t first = 0, second = 0;
  bool operator==(const PairLengths&) const = default;
};

// truncation="longest_first" of Hugging Face's tokenizers: the longer text is cut first; texts that are both too long
// get half of `room` each, the odd token belongs to the longer one.
HEARTH_API PairLengths longest_first(PairLengths lengths, std::int64_t room);

// Turns text into ids, offsets and overflowing windows as Hugging Face's fast tokenizers do. Thread-safe.
class HEARTH_API Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual TokenizedText pieces(std::string_view text) const = 0;
  virtual std::string decode(const std::vector<std::int32_t>& ids, bool skip_special_tokens) const = 0;
  // convert_ids_to_tokens and convert_tokens_to_string of transformers: "##ing"; {"go", "##ing"} gives "going".
  virtual std::string token(std::int32_t id) const = 0;
  virtual std::string joined(const std::vector<std::string>& tokens) const = 0;
  // Whether tokens that go on with a word are marked, as by "##" of WordPiece.
  virtual bool marks_continuations() const = 0;
  virtual std::int64_t vocab_size() const = 0;
  // The id of a special token: "bos", "eos", "unk", "sep", "pad", "cls" or "mask"; nothing if the tokenizer has none.
  virtual std::optional<std::int32_t> special(std::string_view name) const = 0;
  virtual std::vector<std::int32_t> special_ids() const = 0;  // all_special_ids of transformers, ascending
  virtual std::int64_t model_max_length() const = 0;          // or kUnlimited
  // The number of special tokens that one text, or a pair, gets.
  virtual std::int64_t special_tokens(bool pair) const = 0;
  virtual Encoding build(const TokenizedText& first) const = 0;
  virtual Encoding build(const TokenizedText& first, const TokenizedText& second) const = 0;
  // Writes tokenizer.json, tokenizer_config.json, special_tokens_map.json and the model's older files (vocab.txt;
  // vocab.json and merges.txt), as save_pretrained does. Keys of the files that the tokenizer was read from are kept.
  // If the folder has a model's config.json, tokenizer_config.json names the tokenizer class of that model's family:
  // save the model first.
  virtual void save(const std::filesystem::path& folder) const = 0;

  Encoding encode(std::string_view text) const;
  Encoding encode(std::string_view first, std::string_view second) const;
  // The same, cut to at most max_length tokens with truncation="longest_first"; special tokens count, and must fit.
  Encoding encode_truncated(std::string_view text, std::int64_t max_length) const;
  Encoding encode_truncated(std::string_view first, std::string_view second, std::int64_t max_length) const;
  // truncation="only_second" with return_overflowing_tokens: as many encodings as the second text needs, each at most
  // max_length tokens long; windows of the second text overlap by `stride` tokens.
  std::vector<Encoding> encode_windows(const TokenizedText& first, const TokenizedText& second, std::int64_t max_length,
                                       std::int64_t stride) const;
};

// Reads the tokenizer of a model folder, as AutoTokenizer of transformers 4.57 does: tokenizer.json, else older files
// (vocab.txt; vocab.json and merges.txt; a SentencePiece model), with tokenizer_config.json, special_tokens_map.json
// and the model's config.json if they are there.
struct LoadOptions {
  // For texts that come as lists of words. Byte-level tokenizers of families that tell words by the space before them
  // (RoBERTa, GPT-2) then add that space, as run_ner.py has them do.
  bool takes_words = false;
};
HEARTH_API std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder,
                                                           const LoadOptions& options = {});
// Makes BERT's tokenizer with its default settings from a vocab.txt alone.
HEARTH_API std::shared_ptr<const Tokenizer> load_vocabulary(const std::filesystem::path& file, bool lowercase);

}  // namespace hearth::tokenizer
