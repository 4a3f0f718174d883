#include "hearth/tokenizer/unigram_lattice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearth/tokenizer/unigram.h"

namespace hearth::tokenizer {
namespace {

// Probabilities of long words are scaled, or they would be too small for a double.
constexpr int kScale = 300;
constexpr double kTiny = 0x1p-300;

struct Edge {
  std::uint32_t begin, end;
  std::size_t piece;
};

}  // namespace

UnigramLattice::UnigramLattice(std::vector<std::string> pieces)
    : pieces_(std::move(pieces)), trie_(pieces_), scores_(pieces_.size() + 1), probabilities_(pieces_.size() + 1) {
  for (const std::string& piece : pieces_) longest_ = std::max(longest_, piece.size());
}

void UnigramLattice::set_scores(std::vector<double> scores) {
  lowest_ = 0;
  for (const double score : scores)
    if (score != kRemoved) lowest_ = std::min(lowest_, score);
  scores_ = std::move(scores);
  scores_.push_back(lowest_ - Unigram::kUnknownPenalty);
  std::ranges::transform(scores_, probabilities_.begin(), [](double score) { return std::exp(score); });
}

// Calls use(end, piece) for every piece of the word that begins there, the shortest first.
template <class Use>
void UnigramLattice::for_each_piece(std::string_view word, std::size_t begin, const Use& use) const {
  std::size_t next = begin;
  read_code_point(word, next);
  bool is_known = false;
  trie_.for_each_token(word, begin, [&](std::size_t end, std::int32_t id) {
    if (!has(static_cast<std::size_t>(id))) return;
    use(end, static_cast<std::size_t>(id));
    is_known = is_known || end == next;
  });
  if (!is_known) use(next, unknown());
}

// Forward and backward over the places of the word. forward[i] is the probability of the text before i, over all ways
// to cut it, times 2^(kScale * shifts[i]); backward[i] is that of the text behind i, times 2^(kScale * (shifts[end] -
// shifts[i])).
void UnigramLattice::add_expected(std::string_view word, double count, std::span<double> sums) const {
  thread_local std::vector<Edge> edges;
  thread_local std::vector<double> forward, backward;
  thread_local std::vector<int> shifts;
  edges.clear();
  forward.assign(word.size() + 1, 0);
  backward.assign(word.size() + 1, 0);
  shifts.assign(word.size() + 1, 0);
  forward.front() = backward.back() = 1;
  int shift = 0;
  for (std::size_t begin = 0; begin < word.size();) {
    if (forward[begin] < kTiny) {
      const auto reached = std::span(forward).subspan(begin, std::min(longest_ + 1, forward.size() - begin));
      if (std::ranges::max(reached) < kTiny) {
        for (double& probability : reached) probability = std::ldexp(probability, kScale);
        ++shift;
      }
    }
    shifts[begin] = shift;
    for_each_piece(word, begin, [&](std::size_t end, std::size_t piece) {
      forward[end] += forward[begin] * probabilities_[piece];
      edges.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), piece});
    });
    read_code_point(word, begin);
  }
  shifts.back() = shift;
  const double share = count / forward.back();
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
    double behind = probabilities_[edge->piece] * backward[edge->end];
    if (const int rise = shifts[edge->end] - shifts[edge->begin]; rise != 0) behind = std::ldexp(behind, kScale * rise);
    backward[edge->begin] += behind;
    sums[edge->piece] += share * forward[edge->begin] * behind;
  }
}

// Of equally likely ways the one with the longest last piece counts.
UnigramLattice::Path UnigramLattice::best_path(std::string_view word, std::size_t without) const {
  struct Step {
    double score = kRemoved;
    std::size_t begin = 0, piece = 0;
  };
  thread_local std::vector<Step> best;
  best.assign(word.size() + 1, {});
  best.front().score = 0;
  for (std::size_t begin = 0; begin < word.size();) {
    for_each_piece(word, begin, [&](std::size_t end, std::size_t piece) {
      const double score = best[begin].score + scores_[piece];
      if (piece != without && score > best[end].score) best[end] = {score, begin, piece};
    });
    read_code_point(word, begin);
  }
  Path path{best.back().score, {}};
  if (path.score == kRemoved) return path;
  for (std::size_t end = word.size(); end > 0; end = best[end].begin) path.pieces.push_back(best[end].piece);
  std::ranges::reverse(path.pieces);
  return path;
}

}  // namespace hearth::tokenizer
