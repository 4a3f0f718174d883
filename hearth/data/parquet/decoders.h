#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hearth/data/parquet/schema.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data::parquet {

using Bytes = std::span<const std::byte>;

// Reads numbers of a page one by one; the page is never expanded, because a few bytes may stand for billions of equal
// numbers. Data that ends too early is an Error.

// Runs of equal numbers and bit-packed numbers in turn: levels, indices of a dictionary and booleans.
class HybridDecoder {
 public:
  HybridDecoder() = default;
  HybridDecoder(Bytes bytes, int bit_width);
  std::uint32_t next();

 private:
  void begin_run();

  Bytes bytes_;
  std::size_t at_ = 0;
  int bit_width_ = 0;
  std::uint64_t equal_left_ = 0, packed_left_ = 0, bit_ = 0;
  std::uint32_t value_ = 0;
};

// DELTA_BINARY_PACKED: whole numbers as differences, in blocks.
class DeltaDecoder {
 public:
  explicit DeltaDecoder(Bytes bytes);
  std::int64_t next();
  // Where the numbers end in the bytes; the decoder stays where it is.
  std::size_t end() const;

 private:
  void begin_block();
  void begin_miniblock();
  std::size_t miniblock_bytes(std::size_t miniblock) const;

  Bytes bytes_;
  std::size_t at_ = 0;
  std::uint64_t per_miniblock_ = 0, left_ = 0, in_miniblock_ = 0, bit_ = 0;
  std::size_t miniblocks_ = 0, miniblock_ = 0;
  std::vector<std::uint8_t> widths_;
  std::uint64_t min_delta_ = 0, value_ = 0;
  bool is_first_ = true;
};

// The values of the page's leaf.
class ValueDecoder {
 public:
  virtual ~ValueDecoder() = default;
  virtual io::Json next() = 0;
};

// The values of a dictionary, by index. Texts are views of the page, which must outlive it.
struct Dictionary {
  std::vector<std::string_view> texts;
  std::vector<io::Json> numbers;
};
Dictionary read_dictionary(const Leaf& leaf, Bytes page, std::int64_t values);

// `dictionary` may be null. An encoding that is not supported is an Error that names it. `page` must outlive the
// decoder.
std::unique_ptr<ValueDecoder> value_decoder(const Leaf& leaf, std::int64_t encoding, Bytes page,
                                            const Dictionary* dictionary);

}  // namespace hearth::data::parquet
