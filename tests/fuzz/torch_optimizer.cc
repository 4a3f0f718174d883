// optimizer.pt, read for the parameters that the module of tests/fixtures/torch has.
#include "hearth/train/torch_optimizer.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

namespace {

struct Parameters {
  ParameterStore store;

  Parameters() {
    store.add({{"query.weight", {2, 2}, 0}, {"key.weight", {2, 2}, 4}});
    store.add({{"query.bias", {2}, 0}, {"key.bias", {2}, 2}});
    store.add({{"norm.weight", {2}, 0}}, true);
    store.add({{"norm.bias", {2}, 0}}, true);
    store.add({{"table.weight", {3, 2}, 0}});
    store.add({{"unused.weight", {1, 1}, 0}});
    store.add({{"unused.bias", {1}, 0}});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    static const Parameters parameters;
    const std::filesystem::path file = fuzz::write("optimizer.pt", bytes);
    fuzz::attempt([&] { torch_optimizer_steps(file); });
    read_torch_optimizer(file, parameters.store);
  });
}
