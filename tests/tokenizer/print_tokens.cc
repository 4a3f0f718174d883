// Prints what a tokenizer makes of texts: print_tokens FOLDER TEXTS, where each line of TEXTS is a text, or a list of
// two, as JSON. A line of the output is a JSON object with ids, type ids, offsets and the decoded text.
#include <cstdio>
#include <exception>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/tokenizer.h"

using namespace hearth;

namespace {

io::Json json_of(const std::vector<tokenizer::Offset>& offsets) {
  io::Json json = io::Json::array();
  for (const tokenizer::Offset& offset : offsets) json.push_back({offset.begin, offset.end});
  return json;
}

void print(const tokenizer::Tokenizer& tokenizer, const io::Json& text) {
  const tokenizer::Encoding encoding = text.is_array()
                                           ? tokenizer.encode(text[0].get<std::string>(), text[1].get<std::string>())
                                           : tokenizer.encode(text.get<std::string>());
  const io::Json json = {{"ids", encoding.ids},
                         {"type_ids", encoding.type_ids},
                         {"offsets", json_of(encoding.offsets)},
                         {"decoded", tokenizer.decode(encoding.ids, true)}};
  std::puts(io::dump_json(json, io::kOneLine).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto tokenizer = tokenizer::load_tokenizer(argv[1]);
    const std::string lines = io::read_file(argv[2]);
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      print(*tokenizer, io::parse_json(std::string_view(lines).substr(at, end - at), argv[2]));
      at = end + 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
