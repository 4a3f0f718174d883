#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hearth/data/parquet/decoders.h"
#include "hearth/data/parquet/metadata.h"
#include "hearth/io/input_file.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data::parquet {

// The values of one leaf in one row group, page by page: one page is in memory at a time, and the dictionary. File and
// leaf must outlive the reader.
class LeafReader {
 public:
  LeafReader(const io::InputFile& file, const Leaf& leaf, const ColumnChunk& chunk);

  // Goes to the next value or null; false at the end. It begins with the first.
  bool advance();
  int definition() const { return definition_; }  // of the present value
  int repetition() const { return repetition_; }
  io::Json take();  // the present value, if it is not null; once

 private:
  struct Page {
    PageHeader header;
    Bytes body;  // still compressed
  };

  std::optional<Page> next_page();
  void begin_data(const Page& page);
  void begin_data_v2(const Page& page);
  // The bytes of a page or part of it, in `buffer` where they were compressed.
  Bytes expanded(Bytes block, std::int64_t size, bool is_compressed, std::vector<std::byte>& buffer) const;

  const io::InputFile& file_;
  const Leaf& leaf_;
  std::int64_t codec_;
  std::int64_t at_, end_;          // of the pages that are left, in the file
  std::int64_t chunk_left_;        // values of the chunk
  std::int64_t page_left_ = 0;     // values of the page
  std::vector<std::byte> window_;  // the bytes that were read
  std::vector<std::byte> page_, dictionary_page_;
  std::optional<Dictionary> dictionary_;
  HybridDecoder definitions_, repetitions_;
  std::unique_ptr<ValueDecoder> values_;
  int definition_ = 0, repetition_ = 0;
};

}  // namespace hearth::data::parquet
