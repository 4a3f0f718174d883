#include "hearth/data/record_source.h"
#include "hearth/io/byte_source.h"
#include "hearth/io/json.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    constexpr int kMostPieces = 64;  // of a bomb
    for (const char* name : {"data.jsonl.gz", "data.jsonl.zst"}) {
      const std::filesystem::path file = fuzz::write(name, bytes);
      fuzz::attempt([&] {
        const std::unique_ptr<io::ByteSource> source = io::open_bytes(file);
        std::vector<std::byte> piece(1 << 16);
        for (int i = 0; i < kMostPieces && source->read(piece) > 0; ++i) {
        }
      });
      fuzz::attempt([&] {
        const data::RecordSourcePtr source = data::open_records({file});
        for (io::Json record; source->next(record);) {
        }
      });
    }
  });
}
