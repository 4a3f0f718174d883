#include "hearth/data/glue.h"
#include "hearth/data/glue_file.h"
#include "hearth/data/table.h"
#include "hearth/tasks/question_answering/examples.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    for (const char* name : {"data.csv", "data.tsv"}) {
      const std::filesystem::path file = fuzz::write(name, bytes);
      fuzz::attempt([&] { data::read_table(file); });
      fuzz::attempt([&] { tasks::read_qa_dataset(file); });
    }
    for (const data::GlueTask& task : data::glue_tasks())
      fuzz::attempt([&] { data::read_glue(fuzz::scratch() / "data.tsv", task, data::GlueLabels::optional); });
  });
}
