#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearth/metrics/metrics.h"

namespace hearth::metrics {

inline constexpr std::int64_t kRetrieved = 100;  // documents per query that the scores look at

// The documents found for a query, best first, at most kRetrieved.
struct RetrievedDocuments {
  std::vector<bool> is_relevant;
  std::int64_t relevant = 0;  // documents that are relevant to the query, found or not; at least 1
};

// The means over queries as InformationRetrievalEvaluator of sentence-transformers computes them: accuracy@k,
// precision@k and recall@k for k = 1, 3, 5, 10, then ndcg@10, mrr@10 and map@100. Needs at least one query.
Metrics retrieval_scores(std::span<const RetrievedDocuments> queries);

}  // namespace hearth::metrics
