#include "hearth/tasks/question_answering/feature_cache.h"

#include "hearth/base/error.h"
#include "hearth/tokenizer/tokenizer_class.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kFormat = 5;  // raise it whenever features are made or stored differently

}  // namespace

data::CacheKey qa_cache_key(QaFeatureKind kind, const data::Files& files, const std::filesystem::path& tokenizer_folder,
                            const QaFeatureOptions& options, std::int64_t max_samples) {
  data::CacheKey key;
  key.add("format", kFormat)
      .add("kind", kind == QaFeatureKind::train ? "train" : "validation")
      .add("files", std::ssize(files));
  for (const std::filesystem::path& file : files)
    key.add("extension", file.extension().string()).add_file("dataset", file);
  for (const char* name : tokenizer::kTokenizerFiles) key.add_file(name, tokenizer_folder / name);
  key.add("tokenizer class of the model", tokenizer::class_of_model(tokenizer_folder));
  key.add("max_seq_length", options.max_seq_length).add("doc_stride", options.doc_stride);
  return key.add("max_samples", max_samples);
}

std::optional<QaFeatures> load_features(const data::Cache& cache, const data::CacheKey& key,
                                        const QaFeatureLimits& limits) {
  const auto cached = cache.load(key);
  if (!cached) return std::nullopt;
  try {
    return QaFeatures::from_cache(*cached, limits);
  } catch (const Error& error) {
    cache.warn_of_damage(key, error.what());
    return std::nullopt;
  }
}

void store_features(const data::Cache& cache, const data::CacheKey& key, const QaFeatures& features) {
  cache.store(key, features.sections());
}

}  // namespace hearth::tasks
