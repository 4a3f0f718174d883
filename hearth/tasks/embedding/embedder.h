#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hearth/base/dtype.h"
#include "hearth/models/pretrained.h"
#include "hearth/models/sentence_transformer.h"
#include "hearth/tasks/embedding/nearest.h"
#include "hearth/tensor/tensor.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct EmbedderOptions {
  std::optional<std::int64_t> max_seq_length = {};  // not given: that of the model
  std::int64_t tokens_per_batch = 8192;
  DType compute = DType::f32;
  bool normalize = false;                         // length 1, even if the model has no Normalize module
  std::optional<std::int64_t> truncate_dim = {};  // not given: that of the model
};

// A model that embeds texts as SentenceTransformer.encode does.
class Embedder {
 public:
  Embedder(const std::filesystem::path& folder, const EmbedderOptions& options);

  // (texts, D) in f32. Texts of similar lengths are computed together. `progress` gets the number of finished texts.
  Tensor embed(std::span<const std::string> texts, const std::string& prompt,
               const std::function<void(std::int64_t done)>& progress = {});
  const models::SentenceTransformer& settings() const { return settings_; }
  std::int64_t dimension() const;
  std::int64_t tokens() const { return tokens_; }  // that embed() has read so far
  Similarity similarity() const { return similarity_; }

 private:
  std::string folder_;
  EmbedderOptions options_;
  models::SentenceTransformer settings_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<models::Pretrained> model_;
  std::int64_t max_length_ = 0, tokens_ = 0;
  Similarity similarity_ = Similarity::cosine;
};

}  // namespace hearth::tasks
