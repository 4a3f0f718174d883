// Shell commands and Python scripts for other programs.
#include "hearth/migrate/migration.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    fuzz::attempt([&] { migrate::migrate_python(bytes, "script.py"); });
    migrate::migrate_shell(migrate::migrate_shell(bytes).text);
  });
}
