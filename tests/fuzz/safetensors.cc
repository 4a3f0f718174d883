#include "hearth/io/safetensors.h"

#include <numeric>

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const io::Safetensors file = io::Safetensors::open(fuzz::write("model.safetensors", bytes));
    for (const std::string& name : file.names())
      fuzz::attempt([&] {
        const Tensor tensor = file.tensor(name);
        const auto* values = static_cast<const std::uint8_t*>(tensor.raw());
        volatile const std::uint64_t sum = std::accumulate(values, values + tensor.bytes(), std::uint64_t{0});
        (void)sum;  // every byte was read
      });
  });
}
