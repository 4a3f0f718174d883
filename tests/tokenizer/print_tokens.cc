// Prints what a tokenizer makes of texts: print_tokens FOLDER REQUESTS. Each line of REQUESTS is JSON, and each line of
// the output a JSON object:
//   "text" or ["text", "pair"]                  ids, type ids, offsets and the decoded text
//   {"text", "pair" or null, "max_length"}      the same without the decoded text, truncated (longest_first)
//   {"text", "pair", "max_length", "stride"}    windows of the pair (only_second)
//   {"ids", "skip_special_tokens"}              the decoded text
#include <cstdio>
#include <exception>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/tokenizer.h"

using namespace hearth;
using io::Json;

namespace {

Json json_of(const tokenizer::Encoding& encoding) {
  Json offsets = Json::array();
  for (const tokenizer::Offset& offset : encoding.offsets) offsets.push_back({offset.begin, offset.end});
  return {{"ids", encoding.ids}, {"type_ids", encoding.type_ids}, {"offsets", std::move(offsets)}};
}

Json truncated(const tokenizer::Tokenizer& tokenizer, const Json& request) {
  const std::string text = request["text"];
  const std::int64_t max_length = request["max_length"];
  if (request["pair"].is_null()) return json_of(tokenizer.encode_truncated(text, max_length));
  const std::string pair = request["pair"];
  if (!request.contains("stride")) return json_of(tokenizer.encode_truncated(text, pair, max_length));
  Json windows = Json::array();
  for (const auto& window : tokenizer.encode_windows(tokenizer.pieces(text), tokenizer.pieces(pair), max_length,
                                                     request["stride"].get<std::int64_t>()))
    windows.push_back(json_of(window));
  return {{"windows", std::move(windows)}};
}

Json answer(const tokenizer::Tokenizer& tokenizer, const Json& request) {
  if (request.is_object() && request.contains("text")) return truncated(tokenizer, request);
  if (request.is_object())
    return {{"decoded", tokenizer.decode(request["ids"], request["skip_special_tokens"].get<bool>())}};
  const tokenizer::Encoding encoding =
      request.is_array() ? tokenizer.encode(request[0].get<std::string>(), request[1].get<std::string>())
                         : tokenizer.encode(request.get<std::string>());
  Json json = json_of(encoding);
  json["decoded"] = tokenizer.decode(encoding.ids, true);
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto tokenizer = tokenizer::load_tokenizer(argv[1]);
    const std::string lines = io::read_file(argv[2]);
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      const Json request = io::parse_json(std::string_view(lines).substr(at, end - at), argv[2]);
      std::puts(io::dump_json(answer(*tokenizer, request), io::kOneLine).c_str());
      at = end + 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
