#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hearth::tokenizer {

// Hand-made scanners for the regular expressions with which GPT-2 and its descendants split texts. Each matches at
// every place of a text, so its matches are the words.
struct WordScanner {
  enum class Contractions { exact, any_case };  // 's, 't, 're, 've, 'm, 'll, 'd
  enum class Prefix { space, any_space, no_newline };

  Contractions contractions = Contractions::exact;
  Prefix before_letters = Prefix::space;  // no_newline: any character but letters, numbers, \r and \n
  Prefix before_others = Prefix::space;
  bool space_before_numbers = true;
  std::size_t most_digits = 0;  // of one word; 0: any number
  bool knows_newlines = false;  // they end words of punctuation, and runs of spaces that end in them are words

  // The end of the word that begins at `at`, which must be before the end of the text, which is UTF-8.
  std::size_t end_of_word(std::string_view text, std::size_t at) const;
};

std::optional<WordScanner> scanner_of(std::string_view regular_expression);
const WordScanner& gpt2_scanner();

}  // namespace hearth::tokenizer
