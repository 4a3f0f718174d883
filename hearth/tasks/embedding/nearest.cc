#include "hearth/tasks/embedding/nearest.h"

#include <algorithm>
#include <numeric>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/ops/matmul.h"
#include "hearth/ops/similarity.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kScoresInMemory = 1 << 24;

std::vector<Hit> best_of(std::span<const float> scores, std::int64_t count) {
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto is_better = [&](std::int64_t a, std::int64_t b) {
    const float first = scores[static_cast<std::size_t>(a)], second = scores[static_cast<std::size_t>(b)];
    return first != second ? first > second : a < b;
  };
  const auto end = order.begin() + std::min(count, std::ssize(order));
  std::partial_sort(order.begin(), end, order.end(), is_better);
  std::vector<Hit> hits;
  for (auto document = order.begin(); document != end; ++document)
    hits.push_back({*document, scores[static_cast<std::size_t>(*document)]});
  return hits;
}

Var compared(ops::Context& ctx, const Tensor& embeddings, Similarity similarity) {
  return similarity == Similarity::cosine ? ops::normalize_rows(ctx, Var(embeddings)) : Var(embeddings);
}

}  // namespace

Similarity similarity_named(const std::string& name, const std::string& folder) {
  check(name == "cosine" || name == "dot",
        "{} compares embeddings by similarity_fn_name \"{}\", which is not supported; set it to cosine or dot", folder,
        name);
  return name == "dot" ? Similarity::dot : Similarity::cosine;
}

std::vector<std::vector<Hit>> nearest(const Tensor& queries, const Tensor& documents, std::int64_t count,
                                      Similarity similarity) {
  ops::Context ctx;
  const Var left = compared(ctx, queries, similarity), right = compared(ctx, documents, similarity);
  std::vector<std::vector<Hit>> all(static_cast<std::size_t>(queries.rows()));
  const std::int64_t block = std::max<std::int64_t>(1, kScoresInMemory / std::max<std::int64_t>(1, documents.rows()));
  for (std::int64_t begin = 0; begin < queries.rows(); begin += block) {
    const std::int64_t end = std::min(begin + block, queries.rows());
    const Tensor scores =
        ops::matmul(ctx, Var(left.value().slice(begin, end)), right, {.transpose_b = true}).value();  // (block, N)
    cpu::parallel_for(end - begin, [&](std::int64_t row) {
      const float* const of_row = scores.data<float>() + row * scores.row_size();
      all[static_cast<std::size_t>(begin + row)] =
          best_of({of_row, static_cast<std::size_t>(scores.row_size())}, count);
    });
  }
  return all;
}

std::vector<double> similarities(const Tensor& first, const Tensor& second, Similarity similarity) {
  ops::Context ctx;
  const Tensor scores = ops::dot_rows(ctx, compared(ctx, first, similarity), compared(ctx, second, similarity)).value();
  return {scores.data<float>(), scores.data<float>() + scores.size()};
}

}  // namespace hearth::tasks
