// BEIR's files. The first byte of the input chooses the file that has the rest.
#include "hearth/tasks/embedding/retrieval.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    constexpr std::string_view kTexts = "{\"_id\": \"1\", \"text\": \"a\"}\n{\"_id\": \"2\", \"text\": \"b\"}\n";
    const std::pair<std::string, std::string_view> files[] = {
        {"queries.jsonl", kTexts}, {"corpus.jsonl", kTexts}, {"qrels.tsv", "query-id\tcorpus-id\tscore\n1\t2\t1\n"}};
    if (bytes.empty()) return;
    const std::size_t chosen = static_cast<unsigned char>(bytes[0]) % std::size(files);
    std::string paths[3];
    for (std::size_t i = 0; i < std::size(files); ++i)
      paths[i] = fuzz::write(files[i].first, i == chosen ? bytes.substr(1) : files[i].second).string();
    tasks::read_retrieval(paths[0], paths[1], paths[2]);
  });
}
