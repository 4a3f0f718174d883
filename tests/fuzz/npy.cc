#include "hearth/io/npy.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const Tensor matrix = io::read_npy(fuzz::write("matrix.npy", bytes));
    volatile float sum = 0;  // every value is read
    for (std::int64_t i = 0; i < matrix.size(); ++i) sum = sum + matrix.data<float>()[i];
  });
}
