// Launch files and files of options.
#include "hearth/io/yaml.h"

#include "hearth/io/json.h"
#include "hearth/launch/config/launch_config.h"
#include "hearth/train/program_flags.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

namespace {

// Declared once, because there are many of them.
Arguments& training_options() {
  static TrainingArguments arguments;
  static Arguments options = [] {
    Arguments declared;
    declare(declared, arguments);
    return declared;
  }();
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    fuzz::attempt([&] { io::dump_yaml(io::parse_yaml(bytes, "file.yaml")); });
    for (const char* name : {"file.yaml", "file.json"}) {
      const std::filesystem::path file = fuzz::write(name, bytes);
      fuzz::attempt([&] { launch::read_launch_config(file); });
      fuzz::attempt([&] { parse_flags_or_file(training_options(), std::vector{file.string()}); });
    }
  });
}
