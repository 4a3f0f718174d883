#include "hearth/launch/plan/hostfile.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    launch::parse_hostfile(std::string(bytes), "hosts", [](const std::string& host) { return !host.starts_with('?'); });
  });
}
