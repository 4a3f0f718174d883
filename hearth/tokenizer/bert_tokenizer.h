#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/added_tokens.h"
#include "hearth/tokenizer/bert_normalizer.h"
#include "hearth/tokenizer/piece_trie.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/tokenizer/tokenizer_class.h"
#include "hearth/tokenizer/vocabulary_file.h"
#include "hearth/tokenizer/word_reader.h"

namespace hearth::tokenizer {

struct TokenizerFiles;

struct BertConfig {
  Vocabulary vocabulary;
  std::string source = "the vocabulary";  // its name in errors: a file's path
  NormalizerOptions normalizer;
  std::string continuing_subword_prefix = "##";
  std::int64_t max_input_chars_per_word = 100;
  std::string unk_token = "[UNK]", sep_token = "[SEP]", pad_token = "[PAD]", cls_token = "[CLS]", mask_token = "[MASK]";
  std::vector<AddedToken> added_tokens;  // BertTokenizer adds the five above; an id below 0 means the next free one
  std::int64_t model_max_length = kUnlimited;
  std::string tokenizer_class{kDefaultClass};
  std::shared_ptr<const TokenizerFiles> files;  // null where it was not read from JSON files
};

// BERT's WordPiece: a word is cut into the longest token of the vocabulary that begins it, then the longest that
// continues it, and so on; a word that cannot be cut so becomes one unknown token.
class BertTokenizer final : public Tokenizer {
 public:
  explicit BertTokenizer(BertConfig config);

  TokenizedText pieces(std::string_view text) const override;
  std::string decode(const std::vector<std::int32_t>& ids, bool skip_special_tokens) const override;
  std::string token(std::int32_t id) const override;
  std::string joined(const std::vector<std::string>& tokens) const override;
  std::int64_t vocab_size() const override { return vocab_size_; }
  std::int32_t cls_id() const override { return cls_id_; }
  std::int32_t unk_id() const override { return unk_id_; }
  std::int32_t pad_id() const override { return pad_id_; }
  std::optional<std::int32_t> mask_id() const override { return id_of(config_.mask_token); }
  std::vector<std::int32_t> special_ids() const override;
  std::int64_t model_max_length() const override { return config_.model_max_length; }
  std::int64_t special_tokens(bool pair) const override { return pair ? 3 : 2; }
  Encoding build(const TokenizedText& first) const override;
  Encoding build(const TokenizedText& first, const TokenizedText& second) const override;
  void save(const std::filesystem::path& folder) const override;

  const BertConfig& config() const { return config_; }  // added tokens complete, sorted by id
  std::int32_t sep_id() const { return sep_id_; }
  std::int32_t model_id(std::string_view token) const { return trie_.find(token); }  // PieceTrie::kNoToken

 private:
  void complete_added_tokens();
  AddedTokenFinder finder(bool normalized) const;
  std::string normalized(std::string_view text) const;
  std::int32_t id_of(std::string_view token) const;
  const AddedToken* added_token(std::int32_t id) const;

  void append_normalized(std::vector<Character> characters, TokenizedText& pieces) const;
  template <class Words>
  void append_words(Words& words, TokenizedText& pieces) const;
  void append_word(const Word& word, TokenizedText& pieces) const;
  bool append_pieces(const Word& word, TokenizedText& pieces) const;

  BertConfig config_;
  PieceTrie trie_;
  PieceTrie::Node continuation_;  // the node of "##", where tokens that continue a word begin
  BertNormalizer normalizer_;
  AddedTokenFinder raw_tokens_, normalized_tokens_;
  std::int64_t vocab_size_;
  std::int32_t unk_id_, sep_id_, pad_id_, cls_id_;
};

}  // namespace hearth::tokenizer
