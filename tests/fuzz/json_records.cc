#include "hearth/data/table.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/token_classification/token_table.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    for (const char* name : {"data.json", "data.jsonl"}) {
      const std::filesystem::path file = fuzz::write(name, bytes);
      fuzz::attempt([&] { data::read_table(file); });
      fuzz::attempt([&] { tasks::read_qa_dataset(file); });
      fuzz::attempt([&] { tasks::read_qa_dataset(file, tasks::QaAnswers::optional); });
      fuzz::attempt([&] { tasks::TokenSource({file}, {}, data::Tags::optional).next(); });
    }
  });
}
