#include "hearth/tasks/masked_lm/texts.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    for (const char* name : {"texts.txt", "texts.csv", "texts.jsonl"}) {
      const std::filesystem::path file = fuzz::write(name, bytes);
      fuzz::attempt([&] { tasks::split_texts(tasks::read_texts({file.string()}), 5); });
    }
  });
}
