#include "hearth/metrics/retrieval.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "hearth/base/check.h"
#include "hearth/metrics/pairwise_sum.h"

namespace hearth::metrics {
namespace {

constexpr std::int64_t kRankingDepth = 10;

std::size_t first_of(const RetrievedDocuments& query, std::int64_t count) {
  return std::min(query.is_relevant.size(), static_cast<std::size_t>(count));
}

std::int64_t hits(const RetrievedDocuments& query, std::int64_t count) {
  const auto begin = query.is_relevant.begin();
  return std::count(begin, begin + static_cast<std::ptrdiff_t>(first_of(query, count)), true);
}

double reciprocal_rank(const RetrievedDocuments& query) {
  for (std::size_t rank = 0; rank < first_of(query, kRankingDepth); ++rank)
    if (query.is_relevant[rank]) return 1.0 / static_cast<double>(rank + 1);
  return 0;
}

double discount(std::size_t rank) { return 1 / std::log2(static_cast<double>(rank + 2)); }

double ndcg(const RetrievedDocuments& query) {
  double gain = 0, best = 0;
  for (std::size_t rank = 0; rank < first_of(query, kRankingDepth); ++rank)
    if (query.is_relevant[rank]) gain += discount(rank);
  const auto ideal = static_cast<std::size_t>(std::min(query.relevant, kRankingDepth));
  for (std::size_t rank = 0; rank < ideal; ++rank) best += discount(rank);
  return gain / best;
}

double average_precision(const RetrievedDocuments& query) {
  double sum = 0, found = 0;
  for (std::size_t rank = 0; rank < first_of(query, kRetrieved); ++rank)
    if (query.is_relevant[rank]) sum += ++found / static_cast<double>(rank + 1);
  return sum / static_cast<double>(std::min(query.relevant, kRetrieved));
}

using Score = std::function<double(const RetrievedDocuments&)>;

double numpy_mean(std::span<const RetrievedDocuments> queries, const Score& score) {
  std::vector<double> values;
  for (const RetrievedDocuments& query : queries) values.push_back(score(query));
  return pairwise_sum<double>(values) / static_cast<double>(values.size());
}

// One value after the other, as Python adds.
double python_mean(std::span<const RetrievedDocuments> queries, const Score& score) {
  double sum = 0;
  for (const RetrievedDocuments& query : queries) sum += score(query);
  return sum / static_cast<double>(queries.size());
}

}  // namespace

Metrics retrieval_scores(std::span<const RetrievedDocuments> queries) {
  check(!queries.empty(), "[retrieval_scores] there are no queries");
  constexpr std::int64_t kDepths[] = {1, 3, 5, 10};
  Metrics scores;
  const auto add = [&](const char* name, std::int64_t depth, double value) {
    scores.set(std::string(name) + "@" + std::to_string(depth), value);
  };
  for (const std::int64_t k : kDepths)
    add("accuracy", k, python_mean(queries, [k](const auto& query) { return hits(query, k) > 0 ? 1.0 : 0.0; }));
  for (const std::int64_t k : kDepths)
    add("precision", k, numpy_mean(queries, [k](const auto& query) {
          return static_cast<double>(hits(query, k)) / static_cast<double>(k);
        }));
  for (const std::int64_t k : kDepths)
    add("recall", k, numpy_mean(queries, [k](const auto& query) {
          return static_cast<double>(hits(query, k)) / static_cast<double>(query.relevant);
        }));
  add("ndcg", kRankingDepth, numpy_mean(queries, ndcg));
  add("mrr", kRankingDepth, python_mean(queries, reciprocal_rank));
  add("map", kRetrieved, numpy_mean(queries, average_precision));
  return scores;
}

}  // namespace hearth::metrics
