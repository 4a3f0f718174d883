#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/tokenizer/added_tokens.h"
#include "hearth/tokenizer/bert_normalizer.h"
#include "hearth/tokenizer/decoder.h"
#include "hearth/tokenizer/model.h"
#include "hearth/tokenizer/normalizer.h"
#include "hearth/tokenizer/post_processor.h"
#include "hearth/tokenizer/pre_tokenizer.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/tokenizer/tokenizer_class.h"
#include "hearth/tokenizer/wordpiece.h"

namespace hearth::tokenizer {

struct TokenizerFiles;

struct PipelineConfig {
  std::string source = "the tokenizer";  // its name in errors: a file's path
  io::Json nodes;                        // tokenizer.json, as it is to be used and saved
  bool read_from_json = false;           // the nodes come from a file
  std::vector<AddedToken> added_tokens;  // an id below 0 means that of the vocabulary, or the next free one
  SpecialNames special_names;            // "cls" -> "[CLS]"
  std::int64_t model_max_length = kUnlimited;
  std::string tokenizer_class{kDefaultClass};
  std::shared_ptr<const TokenizerFiles> files;  // null where it was not read from JSON files
};

// As transformers does: special tokens that are not among the added ones are added.
void add_special_tokens(PipelineConfig& config);

// Hugging Face's pipeline: added tokens are found in the text; what is between them is normalised, split into words and
// cut into tokens by the model; the post-processor adds special tokens; the decoder makes text of tokens. Each part is
// built from its node of tokenizer.json.
class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(PipelineConfig config);

  TokenizedText pieces(std::string_view text) const override;
  std::string decode(const std::vector<std::int32_t>& ids, bool skip_special_tokens) const override;
  std::string token(std::int32_t id) const override;
  std::string joined(const std::vector<std::string>& tokens) const override;
  bool marks_continuations() const override { return model_->marks_continuations(); }
  std::int64_t vocab_size() const override { return vocab_size_; }
  std::optional<std::int32_t> special(std::string_view name) const override;
  std::vector<std::int32_t> special_ids() const override;
  std::int64_t model_max_length() const override { return config_.model_max_length; }
  std::int64_t special_tokens(bool pair) const override { return post_processor_.special_tokens(pair); }
  Encoding build(const TokenizedText& first) const override { return post_processor_.build(first); }
  Encoding build(const TokenizedText& first, const TokenizedText& second) const override {
    return post_processor_.build(first, second);
  }
  void save(const std::filesystem::path& folder) const override;

  const PipelineConfig& config() const { return config_; }  // added tokens complete, sorted by id
  const Model& model() const { return *model_; }

 private:
  void build_nodes();
  void complete_added_tokens();
  SpecialNames guessed_names() const;
  AddedTokenFinder finder(bool normalized) const;
  const AddedToken* added_token(std::int32_t id) const;
  std::vector<PostProcessor::Spaces> spaces_of_tokens() const;

  TokenizedText pieces_of_bert(std::string_view text) const;
  void append_added(const AddedToken& token, std::string_view text, Offset offset, TokenizedText& pieces) const;
  void append_text(std::string_view text, std::int32_t first, TokenizedText& pieces) const;
  void append_normalized(std::string_view text, const std::int32_t* origins, std::int32_t first,
                         TokenizedText& pieces) const;
  void append_words(Words& words, TokenizedText& pieces) const;

  PipelineConfig config_;
  std::unique_ptr<Normalizer> normalizer_;       // null: texts stay as they are
  std::unique_ptr<PreTokenizer> pre_tokenizer_;  // null: a text is one word
  std::unique_ptr<Model> model_;
  PostProcessor post_processor_;
  std::unique_ptr<Decoder> decoder_;  // null: tokens are joined by spaces
  AddedTokenFinder raw_tokens_, normalized_tokens_;
  SpecialNames names_;  // those of the config, and guesses
  std::int64_t vocab_size_ = 0;
  std::uint64_t serial_;  // of this tokenizer, for the caches of threads

  // The fast path: set if the nodes are BERT's and no added token is looked for in normalised text.
  const BertNormalizer* bert_normalizer_ = nullptr;
  const WordPiece* wordpiece_ = nullptr;
};

}  // namespace hearth::tokenizer
