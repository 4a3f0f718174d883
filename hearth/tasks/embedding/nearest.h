#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/tensor/tensor.h"

namespace hearth::tasks {

struct Hit {
  std::int64_t document = 0;  // its row in the corpus
  float score = 0;
};

// Whether embeddings are compared by their cosine or by their dot product.
enum class Similarity : std::uint8_t { cosine, dot };
// From similarity_fn_name of a model's folder; euclidean and manhattan are Errors.
Similarity similarity_named(const std::string& name, const std::string& folder);

// For each query (Q, D) the `count` documents (N, D) with the highest scores, best first; of equal scores the first
// document. Every score is computed.
std::vector<std::vector<Hit>> nearest(const Tensor& queries, const Tensor& documents, std::int64_t count,
                                      Similarity similarity);

// The score of row i of `first` with row i of `second`.
std::vector<double> similarities(const Tensor& first, const Tensor& second, Similarity similarity);

}  // namespace hearth::tasks
