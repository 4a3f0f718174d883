#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/words.h"

namespace hearth::tokenizer {

// What becomes of the matches of a pattern that splits words.
enum class Delimiters { removed, isolated, merged_with_previous, merged_with_next, contiguous };
Delimiters delimiters_named(const io::Json& node, std::string_view key, const std::string& where);

// A part of a word that the pattern matches, or one between matches.
struct Match {
  ByteRange range;
  bool is_match;
};
// Appends the words that the matches, which cover a word, leave.
void append_words(std::vector<Match> matches, Delimiters delimiters, std::vector<ByteRange>& words);

// Splits every word; `find(text, begin, matches)` appends the matches of a word that begins at byte `begin`.
template <class Find>
void split_each(Words& words, Delimiters delimiters, const Find& find) {
  std::vector<ByteRange> ranges;
  for (const ByteRange& range : words.ranges()) {
    std::vector<Match> matches;
    find(words.text(range), range.begin, matches);
    append_words(std::move(matches), delimiters, ranges);
  }
  words.split(std::move(ranges));
}

// Each character that fits is a match of its own.
template <class Fits>
void split_at_characters(Words& words, Delimiters delimiters, const Fits& fits) {
  split_each(words, delimiters, [&](std::string_view text, std::size_t begin, std::vector<Match>& matches) {
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t here = at;
      if (!fits(read_code_point(text, at))) continue;
      if (done < here) matches.push_back({{begin + done, begin + here}, false});
      matches.push_back({{begin + here, begin + at}, true});
      done = at;
    }
    if (done < text.size()) matches.push_back({{begin + done, begin + text.size()}, false});
  });
}

}  // namespace hearth::tokenizer
