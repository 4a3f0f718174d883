#include "hearth/tokenizer/vocabulary_file.h"

#include <algorithm>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/utf8.h"

namespace hearth::tokenizer {

// Lines end as Python's do in text mode: \n, \r\n or \r.
Vocabulary read_vocabulary(const std::filesystem::path& file) {
  const std::string text = io::read_file(file);
  Vocabulary vocabulary;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    vocabulary.push_back(text.substr(begin, end - begin));
    check(io::is_utf8(vocabulary.back()),
          "{}: line {} is not UTF-8: a vocabulary is a text file with one token per line", file.string(),
          vocabulary.size());
    begin = end + (std::string_view(text).substr(end).starts_with("\r\n") ? 2 : 1);
  }
  check(!vocabulary.empty(), "{} is empty: a vocabulary is a text file with one token per line", file.string());
  return vocabulary;
}

void write_vocabulary(const std::filesystem::path& file, const Vocabulary& vocabulary) {
  std::string text;
  for (const std::string& token : vocabulary) text += token + '\n';
  io::replace_file(file, text);
}

}  // namespace hearth::tokenizer
