#include "hearth/data/conll.h"

#include "hearth/tasks/token_classification/token_table.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const std::filesystem::path file = fuzz::write("words.conll", bytes);
    for (const data::Tags tags : {data::Tags::required, data::Tags::optional})
      fuzz::attempt([&] {
        tasks::TokenSource source({file}, {}, tags);
        while (source.next()) {
        }
      });
  });
}
