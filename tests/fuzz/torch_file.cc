// Files of torch.save: the zip format and the one before it.
#include "hearth/io/torch_file.h"

#include <numeric>

#include "hearth/io/json.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const std::filesystem::path file = fuzz::write("pytorch_model.bin", bytes);
    io::read_torch_as_json(file);
    for (const auto& [name, tensor] : io::read_state_dict(file))
      fuzz::attempt([&, &stored = tensor] {
        const Tensor read = stored.read("a tensor");
        const auto* values = static_cast<const std::uint8_t*>(read.raw());
        volatile const std::uint64_t sum = std::accumulate(values, values + read.bytes(), std::uint64_t{0});
        (void)sum;  // every byte was read
      });
  });
}
