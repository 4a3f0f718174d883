// merges.txt beside a vocab.json that has the bytes' characters and a few merges.
#include "tests/fuzz/tokenizer.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    fuzz::write("model/vocab.json", R"({"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4})");
    fuzz::use(*tokenizer::load_tokenizer(fuzz::write("model/merges.txt", bytes).parent_path()));
  });
}
