#include "hearth/data/parquet/leaf_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/io/block_compression.h"
#include "hearth/io/json.h"

namespace hearth::data::parquet {
namespace {

constexpr std::int64_t kFirstLook = 1 << 14, kLargestHeader = 1 << 24, kLargestPage = 1 << 28;

std::optional<io::BlockCodec> codec_of(std::int64_t number) {
  constexpr std::array<std::string_view, 8> kNames{"none", "snappy", "gzip", "LZO", "Brotli", "LZ4", "zstd", "lz4_raw"};
  switch (number) {
    case 0:
      return std::nullopt;
    case 1:
      return io::BlockCodec::snappy;
    case 2:
      return io::BlockCodec::gzip;
    case 6:
      return io::BlockCodec::zstd;
    case 7:
      return io::BlockCodec::lz4_raw;
    default:
      fail("it is compressed with {}, which is not supported; write it with snappy, gzip, zstd or without compression",
           number > 0 && number < std::ssize(kNames) ? kNames[static_cast<std::size_t>(number)] : "an unknown codec");
  }
}

int width_of(int highest_level) { return std::bit_width(static_cast<unsigned>(highest_level)); }

// Levels of a data page v1: their size stands before them.
Bytes take_levels(Bytes& page) {
  std::uint32_t size = 0;
  check(page.size() >= sizeof size, "a page ends within its levels");
  std::memcpy(&size, page.data(), sizeof size);
  page = page.subspan(sizeof size);
  check(size <= page.size(), "a page ends within its levels");
  const Bytes levels = page.first(size);
  page = page.subspan(size);
  return levels;
}

}  // namespace

LeafReader::LeafReader(const io::InputFile& file, const Leaf& leaf, const ColumnChunk& chunk)
    : file_(file),
      leaf_(leaf),
      codec_(chunk.codec),
      at_(chunk.offset()),
      end_(at_ + chunk.compressed_bytes),
      chunk_left_(chunk.values) {
  const auto size = static_cast<std::int64_t>(file.size());
  check(at_ >= 0 && chunk.compressed_bytes >= 0 && chunk.compressed_bytes <= size && end_ <= size && chunk.values >= 0,
        "its columns lie outside of the file");
}

bool LeafReader::advance() {
  while (page_left_ == 0) {
    if (chunk_left_ == 0) return false;
    const std::optional<Page> page = next_page();
    check(page.has_value(), "its pages hold {} values less than its footer says", chunk_left_);
    if (page->header.type == PageType::dictionary) {
      check(!dictionary_, "it has two dictionaries");
      const Bytes body = expanded(page->body, page->header.uncompressed_bytes, true, dictionary_page_);
      if (body.data() != dictionary_page_.data()) dictionary_page_.assign(body.begin(), body.end());
      dictionary_ = read_dictionary(leaf_, dictionary_page_, page->header.values);
    } else if (page->header.type != PageType::index) {
      begin_data(*page);
    }
  }
  --page_left_;
  --chunk_left_;
  repetition_ = leaf_.repetition > 0 ? static_cast<int>(repetitions_.next()) : 0;
  definition_ = leaf_.definition > 0 ? static_cast<int>(definitions_.next()) : 0;
  check(repetition_ <= leaf_.repetition && definition_ <= leaf_.definition, "a value has an impossible level");
  return true;
}

io::Json LeafReader::take() { return values_->next(); }

std::optional<LeafReader::Page> LeafReader::next_page() {
  if (at_ >= end_) return std::nullopt;
  std::optional<std::pair<PageHeader, std::size_t>> header;
  for (std::int64_t look = kFirstLook; !header; look *= 4) {
    window_.resize(static_cast<std::size_t>(std::min(look, end_ - at_)));
    file_.read_at(static_cast<std::uint64_t>(at_), window_);
    header = read_page_header(window_);
    check(header || (look < kLargestHeader && look < end_ - at_), "a page's header is cut short");
  }
  const auto& [page, header_bytes] = *header;
  at_ += static_cast<std::int64_t>(header_bytes);
  check(page.compressed_bytes <= end_ - at_, "a page of {} bytes is larger than its column", page.compressed_bytes);
  check(page.compressed_bytes <= kLargestPage && page.uncompressed_bytes <= kLargestPage,
        "a page has more than {} MiB; write the file with smaller pages", kLargestPage >> 20);
  window_.resize(static_cast<std::size_t>(page.compressed_bytes));
  file_.read_at(static_cast<std::uint64_t>(at_), window_);
  at_ += page.compressed_bytes;
  check(!page.crc || *page.crc == io::crc32_of(window_), "a page has a wrong checksum");
  return Page{page, window_};
}

void LeafReader::begin_data(const Page& page) {
  const PageHeader& header = page.header;
  check(header.values <= chunk_left_, "its pages hold more values than its footer says");
  page_left_ = header.values;
  if (header.type == PageType::data_v2) return begin_data_v2(page);
  Bytes rest = expanded(page.body, header.uncompressed_bytes, true, page_);
  if (leaf_.repetition > 0) repetitions_ = HybridDecoder(take_levels(rest), width_of(leaf_.repetition));
  if (leaf_.definition > 0) definitions_ = HybridDecoder(take_levels(rest), width_of(leaf_.definition));
  values_ = value_decoder(leaf_, header.encoding, rest, dictionary_ ? &*dictionary_ : nullptr);
}

// Its levels are never compressed.
void LeafReader::begin_data_v2(const Page& page) {
  const PageHeader& header = page.header;
  const std::int64_t levels = header.repetition_bytes + header.definition_bytes;
  check(levels <= std::ssize(page.body) && levels <= header.uncompressed_bytes, "a page ends within its levels");
  const auto repetition_bytes = static_cast<std::size_t>(header.repetition_bytes);
  const auto definition_bytes = static_cast<std::size_t>(header.definition_bytes);
  repetitions_ = HybridDecoder(page.body.first(repetition_bytes), width_of(leaf_.repetition));
  definitions_ = HybridDecoder(page.body.subspan(repetition_bytes, definition_bytes), width_of(leaf_.definition));
  const Bytes body = expanded(page.body.subspan(static_cast<std::size_t>(levels)), header.uncompressed_bytes - levels,
                              header.is_compressed, page_);
  values_ = value_decoder(leaf_, header.encoding, body, dictionary_ ? &*dictionary_ : nullptr);
}

Bytes LeafReader::expanded(Bytes block, std::int64_t size, bool is_compressed, std::vector<std::byte>& buffer) const {
  const std::optional<io::BlockCodec> codec = is_compressed ? codec_of(codec_) : std::nullopt;
  if (codec && size == 0) return {};
  check(codec || std::ssize(block) == size, "a page has {} bytes instead of {}", block.size(), size);
  if (!codec) return block;
  buffer.resize(static_cast<std::size_t>(size));
  io::decompress(*codec, block, buffer);
  return buffer;
}

}  // namespace hearth::data::parquet
