#include "hearth/tokenizer/splitting.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::tokenizer {
namespace {

constexpr std::pair<std::string_view, Delimiters> kNames[] = {{"Removed", Delimiters::removed},
                                                              {"Isolated", Delimiters::isolated},
                                                              {"MergedWithPrevious", Delimiters::merged_with_previous},
                                                              {"MergedWithNext", Delimiters::merged_with_next},
                                                              {"Contiguous", Delimiters::contiguous}};

// Parts in the order of reading. A part joins the one before it if `joins(this is a match, that is a match)`.
template <class Joins>
std::vector<ByteRange> joined(const std::vector<Match>& matches, const Joins& joins) {
  std::vector<ByteRange> words;
  bool previous = false;
  for (const auto& [range, is_match] : matches) {
    if (!words.empty() && joins(is_match, previous)) {
      words.back().begin = std::min(words.back().begin, range.begin);
      words.back().end = std::max(words.back().end, range.end);
    } else {
      words.push_back(range);
    }
    previous = is_match;
  }
  return words;
}

bool joins_delimiter(bool is_match, bool previous) { return is_match && !previous; }

}  // namespace

Delimiters delimiters_named(const io::Json& node, std::string_view key, const std::string& where) {
  const std::string name = io::get_string(node, key, where);
  for (const auto& [known, delimiters] : kNames)
    if (known == name) return delimiters;
  fail("{}: \"{}\" is not a \"{}\"", where, name, key);
}

void append_words(std::vector<Match> matches, Delimiters delimiters, std::vector<ByteRange>& words) {
  std::vector<ByteRange> found;
  switch (delimiters) {
    case Delimiters::removed:
      std::erase_if(matches, [](const Match& match) { return match.is_match; });
      [[fallthrough]];
    case Delimiters::isolated:
      found = joined(matches, [](bool, bool) { return false; });
      break;
    case Delimiters::contiguous:
      found = joined(matches, [](bool is_match, bool previous) { return is_match == previous; });
      break;
    case Delimiters::merged_with_previous:
      found = joined(matches, joins_delimiter);
      break;
    case Delimiters::merged_with_next:
      std::ranges::reverse(matches);
      found = joined(matches, joins_delimiter);
      std::ranges::reverse(found);
      break;
  }
  words.insert(words.end(), found.begin(), found.end());
}

}  // namespace hearth::tokenizer
