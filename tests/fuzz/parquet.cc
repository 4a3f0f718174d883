#include "hearth/data/record_source.h"
#include "hearth/io/json.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

// A few bytes may stand for billions of equal rows: only the first are read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    constexpr int kMostRows = 2000;
    const data::RecordSourcePtr source = data::open_records({fuzz::write("data.parquet", bytes)});
    io::Json record;
    for (int row = 0; row < kMostRows && source->next(record); ++row) {
    }
  });
}
