#include <fmt/format.h>

#include "hearth/base/check.h"
#include "hearth/base/version.h"

int main() {
  try {
    hearth::fail("a sentence of Hearth {}", hearth::kVersion);
  } catch (const hearth::Error& error) {
    fmt::print("{}\n", error.what());
  }
}
