// Pickles alone, without the zip file around them.
#include "hearth/io/pickle.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const io::PickleRules rules{
        .check_global = [](const std::string& global) { check(global.size() < 100, "too long"); },
        .make = [](const std::string&, const auto& arguments) { return io::PickleValue::Tuple{arguments}; },
        .find_persistent = [](const io::PickleValue& id) { return id; }};
    const io::ReadPickle read = io::read_pickle(bytes, "the input", rules);
    check(read.size <= bytes.size(), "read beyond the end");
    const std::string again = io::write_pickle(read.value);
    io::read_pickle(again, "the output", rules);
  });
}
