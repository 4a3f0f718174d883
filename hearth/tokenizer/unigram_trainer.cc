#include "hearth/tokenizer/unigram_trainer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/unigram_lattice.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kChunks = 16;  // of the words; each has sums of its own
constexpr std::int64_t kPiecesPerTask = 1024;
constexpr double kLeastExpected = 0.5;  // a piece that is expected less often is removed
constexpr double kScoreStep = 1e-4;     // between characters that have lost their pieces
constexpr double kScoreDigits = 1e12;   // scores are rounded to twelve decimals, which every program reads alike

// The derivative of the logarithm of the gamma function: by its asymptotic series, from 8 on.
double digamma(double x) {
  double result = 0;
  for (; x < 8; x += 1) result -= 1 / x;
  const double y = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760))))));
}

class Training {
 public:
  Training(std::span<const CountedWord> words, const UnigramTraining& options);
  std::vector<ScoredToken> run();

 private:
  // Runs add(word, sums) for every word and returns the sums by piece.
  template <class Add>
  std::vector<double> sum_over_words(const Add& add) const;
  std::int64_t size() const;
  void maximise_expectation();
  void prune();
  void start(std::vector<ScoredToken> pieces);
  std::vector<ScoredToken> finish() const;

  std::span<const CountedWord> words_;
  const UnigramTraining& options_;
  std::set<std::string> characters_;
  std::vector<std::size_t> chunks_;  // where each begins, and the end of the last
  UnigramLattice lattice_{{}};
};

Training::Training(std::span<const CountedWord> words, const UnigramTraining& options)
    : words_(words), options_(options) {
  std::size_t bytes = 0;
  for (const CountedWord& word : words) bytes += word.text.size();
  std::size_t done = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (done * kChunks >= chunks_.size() * bytes) chunks_.push_back(i);
    done += words[i].text.size();
    for (std::size_t at = 0, end = 0; at < words[i].text.size(); at = end) {
      read_code_point(words[i].text, end);
      characters_.insert(words[i].text.substr(at, end - at));
    }
  }
  chunks_.push_back(words.size());
  const std::size_t least = characters_.size() + options.special_tokens.size();
  check(static_cast<std::size_t>(options.vocab_size) >= least,
        "a vocabulary of {} tokens is too small: the texts have {} different characters, and there are {} special "
        "tokens; vocab_size must be at least {}",
        options.vocab_size, characters_.size(), options.special_tokens.size(), least);
}

// The number of pieces that are left; the unknown one counts, as in the library.
std::int64_t Training::size() const {
  std::int64_t count = 1;
  for (std::size_t piece = 0; piece < lattice_.pieces().size(); ++piece) count += lattice_.has(piece) ? 1 : 0;
  return count;
}

void Training::start(std::vector<ScoredToken> pieces) {
  std::vector<std::string> texts;
  std::vector<double> scores;
  for (ScoredToken& piece : pieces) {
    texts.push_back(std::move(piece.text));
    scores.push_back(piece.score);
  }
  lattice_ = UnigramLattice(std::move(texts));
  lattice_.set_scores(std::move(scores));
}

template <class Add>
std::vector<double> Training::sum_over_words(const Add& add) const {
  const std::size_t pieces = lattice_.pieces().size() + 1;
  std::vector<std::vector<double>> sums(chunks_.size() - 1, std::vector<double>(pieces));
  cpu::parallel_for(std::ssize(sums), [&](std::int64_t i) {
    const auto chunk = static_cast<std::size_t>(i);
    for (std::size_t word = chunks_[chunk]; word < chunks_[chunk + 1]; ++word) add(words_[word], sums[chunk]);
  });
  std::vector<double> total(pieces);
  cpu::parallel_chunks(std::ssize(total), kPiecesPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (auto piece = static_cast<std::size_t>(begin); piece < static_cast<std::size_t>(end); ++piece)
      for (const std::vector<double>& part : sums) total[piece] += part[piece];
  });
  return total;
}

// The digamma function in place of the logarithm makes the probabilities of rare pieces smaller, so that fewer are
// left.
void Training::maximise_expectation() {
  const std::vector<double> expected = sum_over_words([this](const CountedWord& word, std::vector<double>& sums) {
    lattice_.add_expected(word.text, static_cast<double>(word.count), sums);
  });
  const auto stays = [&](std::size_t piece) { return lattice_.has(piece) && expected[piece] >= kLeastExpected; };
  double sum = 0;
  std::vector<double> scores(lattice_.pieces().size(), UnigramLattice::kRemoved);
  for (std::size_t piece = 0; piece < scores.size(); ++piece)
    if (stays(piece)) sum += expected[piece];
  for (std::size_t piece = 0; piece < scores.size(); ++piece)
    if (stays(piece)) scores[piece] = digamma(expected[piece]) - digamma(sum);
  lattice_.set_scores(std::move(scores));
}

// The loss of a piece is how much less likely the words are if its next best cut takes its place. Pieces without
// another cut stay; of the others those with the largest losses.
void Training::prune() {
  const std::size_t pieces = lattice_.pieces().size();
  const std::vector<double> counts = sum_over_words([this](const CountedWord& word, std::vector<double>& sums) {
    for (const std::size_t piece : lattice_.best_path(word.text).pieces) sums[piece] += static_cast<double>(word.count);
  });
  const double all = static_cast<double>(size() - 1);
  double sum = 0, words = 0;
  for (const double count : counts) sum += count;
  for (const CountedWord& word : words_) words += static_cast<double>(word.count);

  enum class Fate : char { leaves, stays, competes };
  std::vector<Fate> fates(pieces, Fate::leaves);
  std::vector<double> losses(pieces);
  const auto judge = [&](std::size_t piece) {
    const UnigramLattice::Path others = lattice_.best_path(lattice_.pieces()[piece], piece);
    const bool has_other_cut = !others.pieces.empty(), is_best = others.score <= lattice_.score(piece);
    if (!has_other_cut || !is_best) return counts[piece] > 0 || !has_other_cut ? Fate::stays : Fate::leaves;
    if (counts[piece] == 0) return Fate::leaves;
    const double logarithm = std::log(sum + counts[piece] * all);
    double other = 0;
    for (const std::size_t part : others.pieces) other += std::log(counts[part] + counts[piece]) - logarithm;
    losses[piece] = counts[piece] / words * (std::log(counts[piece]) - std::log(sum) - other);
    return Fate::competes;
  };
  cpu::parallel_chunks(static_cast<std::int64_t>(pieces), kPiecesPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (auto piece = static_cast<std::size_t>(begin); piece < static_cast<std::size_t>(end); ++piece)
      if (lattice_.has(piece)) fates[piece] = judge(piece);
  });

  std::vector<ScoredToken> kept;
  std::vector<std::size_t> competing;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    if (fates[piece] == Fate::stays) kept.push_back({lattice_.pieces()[piece], lattice_.score(piece)});
    if (fates[piece] == Fate::competes) competing.push_back(piece);
  }
  std::ranges::stable_sort(competing, std::greater{}, [&](std::size_t piece) { return losses[piece]; });
  const auto shrunk = static_cast<std::int64_t>(static_cast<double>(size()) * options_.shrinking_factor);
  const std::int64_t wanted = std::max(options_.vocab_size * 11 / 10, shrunk) - 1;
  for (const std::size_t piece : competing) {
    if (std::ssize(kept) >= wanted) break;
    kept.push_back({lattice_.pieces()[piece], lattice_.score(piece)});
  }
  start(std::move(kept));
}

std::vector<ScoredToken> Training::run() {
  start(unigram_seeds(words_, options_.seeds));
  const std::int64_t enough = options_.vocab_size * 11 / 10;  // what is left of the surplus is cut off in finish()
  const double rounds = 1 + std::max(0.0, std::log(static_cast<double>(enough) / static_cast<double>(size())) /
                                              std::log(options_.shrinking_factor));
  for (double round = 1;; ++round) {
    for (int i = 0; i < options_.iterations; ++i) maximise_expectation();
    if (options_.progress) options_.progress(std::min(1.0, round / rounds));
    const std::int64_t before = size();
    if (before <= enough) break;
    prune();
    if (size() == before) break;
  }
  if (options_.progress) options_.progress(1);
  return finish();
}

// Characters first, so that none is missing; then pieces in the order that pruning has left.
std::vector<ScoredToken> Training::finish() const {
  std::unordered_map<std::string_view, double> scores;
  for (std::size_t piece = 0; piece < lattice_.pieces().size(); ++piece)
    if (lattice_.has(piece)) scores.emplace(lattice_.pieces()[piece], lattice_.score(piece));
  std::vector<ScoredToken> tokens;
  double missing = lattice_.lowest_score();
  for (const std::string& character : characters_) {
    const auto found = scores.find(character);
    tokens.push_back({character, found == scores.end() ? missing : found->second});
    if (found == scores.end()) missing += kScoreStep;
  }
  const std::size_t room = static_cast<std::size_t>(options_.vocab_size) - options_.special_tokens.size();
  for (std::size_t piece = 0; piece < lattice_.pieces().size() && tokens.size() < room; ++piece)
    if (lattice_.has(piece) && !characters_.contains(lattice_.pieces()[piece]))
      tokens.push_back({lattice_.pieces()[piece], lattice_.score(piece)});
  std::ranges::stable_sort(tokens, std::greater{}, &ScoredToken::score);
  std::vector<ScoredToken> all;
  for (const std::string& token : options_.special_tokens) all.push_back({token, 0});
  for (ScoredToken& token : tokens)
    if (std::ranges::find(options_.special_tokens, token.text) == options_.special_tokens.end())
      all.push_back({std::move(token.text), std::round(token.score * kScoreDigits) / kScoreDigits});
  return all;
}

}  // namespace

std::vector<ScoredToken> train_unigram(std::span<const CountedWord> words, const UnigramTraining& options) {
  return Training(words, options).run();
}

}  // namespace hearth::tokenizer
