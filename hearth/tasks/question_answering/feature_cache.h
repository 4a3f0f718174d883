#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "hearth/data/cache.h"
#include "hearth/data/files.h"
#include "hearth/tasks/question_answering/preprocess.h"

namespace hearth::tasks {

// Everything that the features of a file depend on. max_samples is the number of examples taken, -1 for all.
data::CacheKey qa_cache_key(QaFeatureKind kind, const data::Files& files, const std::filesystem::path& tokenizer_folder,
                            const QaFeatureOptions& options, std::int64_t max_samples = -1);

// Nothing where the cache has none for the key. Features beyond the limits give a warning and count as none.
std::optional<QaFeatures> load_features(const data::Cache& cache, const data::CacheKey& key,
                                        const QaFeatureLimits& limits);
void store_features(const data::Cache& cache, const data::CacheKey& key, const QaFeatures& features);

}  // namespace hearth::tasks
