#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hearth/ops/pooling.h"

namespace hearth::models {

// What the files of sentence-transformers say about an embedding model: modules.json, 1_Pooling/config.json,
// config_sentence_transformers.json and sentence_bert_config.json.
struct SentenceTransformer {
  std::vector<ops::Pooling> pooling{ops::Pooling::mean};  // several: one embedding beside the other
  bool normalize = false;
  bool include_prompt = true;                           // false: pooling leaves out the tokens of the prompt
  std::map<std::string, std::string> prompts = {};      // by name: texts that stand before the model's inputs
  std::optional<std::string> default_prompt_name = {};  // of the prompt of texts that name none
  std::string similarity_fn_name = "cosine";            // or dot, euclidean, manhattan
  std::optional<std::int64_t> truncate_dim = {};        // embeddings keep so many columns
  std::optional<std::int64_t> max_seq_length = {};      // not given: the tokenizer's

  // The prompt that stands before texts: the named one, or the default one. An unknown name is an Error.
  std::string prompt(const std::optional<std::string>& name, const std::string& folder) const;
  // As encode_query and encode_document: the first of these that there is, or else the default one.
  std::string query_prompt() const { return first_prompt({"query"}); }
  std::string document_prompt() const { return first_prompt({"document", "passage", "corpus"}); }
  std::int64_t dimension(std::int64_t hidden) const { return hidden * std::ssize(pooling); }

 private:
  std::string first_prompt(std::initializer_list<const char*> names) const;
};

// Reads the layout of version 5.4 and later, and the one before. A folder without modules.json has mean pooling. A
// module that is not supported is an Error.
SentenceTransformer read_sentence_transformer(const std::filesystem::path& folder);

// Writes the layout of version 5.4 beside a model and its tokenizer, whose model_max_length becomes max_seq_length.
// `hidden` is the width of the model.
void write_sentence_transformer(const SentenceTransformer& settings, std::int64_t hidden,
                                const std::filesystem::path& folder);

// The same for a CrossEncoder: a sequence classifier that scores pairs.
void write_cross_encoder(std::int64_t max_seq_length, const std::filesystem::path& folder);

}  // namespace hearth::models
