// Files beside vocab.txt. The first byte of the input chooses the file that has the rest.
#include "tests/fuzz/tokenizer.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    static const std::filesystem::path folder =
        fuzz::write("model/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##e\none\ntwo\n").parent_path();
    constexpr std::string_view kFiles[] = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};
    if (bytes.empty()) return;
    const std::size_t chosen = static_cast<unsigned char>(bytes[0]) % std::size(kFiles);
    for (std::size_t i = 0; i < std::size(kFiles); ++i)
      fuzz::write(std::filesystem::path("model") / kFiles[i], i == chosen ? bytes.substr(1) : "{}");
    fuzz::use(*tokenizer::load_tokenizer(folder));
  });
}
