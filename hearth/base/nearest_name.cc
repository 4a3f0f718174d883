#include "hearth/base/nearest_name.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <vector>

namespace hearth {
namespace {

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kShortestStem = 3, kShortestMisspelt = 4;  // letters of a word inside a name

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  std::erase(words, "");
  return words;
}

// Letters to insert, delete or replace, and neighbours to swap.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> table((from.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      at(i, j) =
          std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (from[i - 1] == to[j - 1] ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return table.back();
}

// kFar beyond one mistake per four letters; names of two letters or fewer have none.
std::size_t misspelling(std::string_view name, std::string_view known) {
  const std::size_t limit = name.size() < 3 ? 0 : std::max<std::size_t>(1, name.size() / 4);
  const std::size_t distance = edit_distance(name, known);
  return distance <= limit ? distance : kFar;
}

bool is_initials(std::string_view name, const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() != name.size()) return false;
  return std::ranges::equal(name, words, {}, {}, [](const std::string& word) { return word.front(); });
}

bool stands_for(std::string_view word, std::string_view known) {
  const bool is_short = word.size() >= kShortestStem && known.starts_with(word);
  return word == known || is_short || (word.size() >= kShortestMisspelt && misspelling(word, known) != kFar);
}

// The number of words of `known` beyond those of `name`; kFar where a word of `name` is missing there.
std::size_t extra_words(const std::vector<std::string>& name, const std::vector<std::string>& known) {
  const auto is_known = [&](const std::string& word) {
    return std::ranges::any_of(known, [&](const std::string& other) { return stands_for(word, other); });
  };
  if (name.empty() || name.size() > known.size() || !std::ranges::all_of(name, is_known)) return kFar;
  return known.size() - name.size();
}

// The name of the smallest cost, "" where all are kFar.
template <class Cost>
std::string cheapest(std::span<const std::string> known, Cost cost) {
  const auto best = std::ranges::min_element(known, {}, cost);
  return best == known.end() || cost(*best) == kFar ? "" : *best;
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const std::vector<std::string> words = words_of(name);
  const std::string plain = fmt::format("{}", fmt::join(words, "_"));
  const auto by_spelling = [&](const std::string& other) {
    return misspelling(plain, fmt::format("{}", fmt::join(words_of(other), "_")));
  };
  const auto by_initials = [&](const std::string& other) { return is_initials(plain, words_of(other)) ? 0 : kFar; };
  const auto by_words = [&](const std::string& other) { return extra_words(words, words_of(other)); };
  std::string nearest = cheapest(known, by_spelling);
  if (nearest.empty()) nearest = cheapest(known, by_initials);
  if (nearest.empty()) nearest = cheapest(known, by_words);
  return nearest;
}

std::string did_you_mean(std::string_view nearest_name) {
  return nearest_name.empty() ? "" : fmt::format("; did you mean {}?", nearest_name);
}

}  // namespace hearth
