// Prints the records of files as JSON lines: print_records FILE... For parquet_test.py.
#include <fmt/format.h>

#include "hearth/base/error.h"
#include "hearth/data/record_source.h"
#include "hearth/io/json.h"

int main(int count, char** words) {
  try {
    const auto source = hearth::data::open_records({words + 1, words + count});
    for (hearth::io::Json record; source->next(record);)
      fmt::print("{}\n", hearth::io::dump_json(record, hearth::io::kOneLine));
  } catch (const hearth::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
