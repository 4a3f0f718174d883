#include "tests/fuzz/tokenizer.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    fuzz::use(*tokenizer::load_tokenizer(fuzz::write("model/sentencepiece.bpe.model", bytes).parent_path()));
  });
}
