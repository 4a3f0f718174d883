// What the fuzz targets share. A target reads its input as a file of one format: it may throw hearth::Error and nothing
// else. With libFuzzer it is a fuzzer of its own (`make test-fuzz`); with replay.cc it is a test of its corpus.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/base/log.h"

namespace hearth::fuzz {

// Runs `body`; an Error ends it.
template <class Body>
void attempt(const Body& body) {
  try {
    body();
  } catch (const Error&) {  // as it should be
  }
}

// The body of LLVMFuzzerTestOneInput.
template <class Read>
int run(const std::uint8_t* data, std::size_t size, const Read& read) {
  set_log_sink([](LogLevel, std::string_view) {});
  attempt([&] { read(std::string_view(reinterpret_cast<const char*>(data), size)); });
  return 0;
}

// A folder of this process, in memory if the system has such folders.
inline const std::filesystem::path& scratch() {
  struct Folder {
    std::filesystem::path path;

    Folder() {
      const bool has_memory = access("/dev/shm", W_OK) == 0;
      std::string name = (has_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/fuzz-XXXXXX";
      check(mkdtemp(name.data()) != nullptr, "no temporary folder");
      path = name;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

inline std::filesystem::path write(const std::filesystem::path& file, std::string_view bytes) {
  const std::filesystem::path path = scratch() / file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace hearth::fuzz
