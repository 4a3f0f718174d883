#include "hearth/tokenizer/merges_file.h"

#include <string>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/utf8.h"

namespace hearth::tokenizer {

Bpe::Merges read_merges(const std::filesystem::path& file) {
  const std::string text = io::read_file(file);
  Bpe::Merges merges;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    const bool is_merge = space != line.npos && space > 0 && space + 1 < line.size() &&
                          line.find(' ', space + 1) == line.npos && io::is_utf8(line);
    check(is_merge, "{}: line {} is not two tokens with a space between them", file.string(), number);
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

void write_merges(const std::filesystem::path& file, const Bpe::Merges& merges) {
  std::string text = "#version: 0.2\n";
  for (const auto& [first, second] : merges) text += first + ' ' + second + '\n';
  io::replace_file(file, text);
}

}  // namespace hearth::tokenizer
