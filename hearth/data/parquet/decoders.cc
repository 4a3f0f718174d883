#include "hearth/data/parquet/decoders.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"

namespace hearth::data::parquet {
namespace {

using io::Json;

// Parquet's numbers of encodings.
enum Encoding {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDelta = 5,
  kDeltaLength = 6,
  kDeltaBytes = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9
};
constexpr std::array<std::string_view, 10> kEncodingNames{
    "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
    "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};

void check_inside(bool inside) { check(inside, "a page holds fewer values than its header says"); }

std::uint64_t varint(Bytes bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    check_inside(at < bytes.size());
    const auto next = static_cast<std::uint8_t>(bytes[at++]);
    value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
    if (next < 0x80) return value;
  }
  fail("a page has a number of more than 64 bits");
}

std::uint64_t zigzag(Bytes bytes, std::size_t& at) {
  const std::uint64_t value = varint(bytes, at);
  return (value >> 1) ^ (~(value & 1) + 1);
}

// `width` bits from bit `bit` on; the caller has checked that they are there.
std::uint64_t bits(Bytes bytes, std::uint64_t bit, int width) {
  std::uint64_t value = 0;
  for (int done = 0; done < width;) {
    const std::uint64_t at = bit + static_cast<std::uint64_t>(done);
    const int shift = static_cast<int>(at % 8), taken = std::min(8 - shift, width - done);
    const std::uint64_t part = (static_cast<std::uint64_t>(bytes[at / 8]) >> shift) & ((1U << taken) - 1);
    value |= part << done;
    done += taken;
  }
  return value;
}

template <class T>
T number_at(Bytes bytes, std::size_t at) {
  T value;
  check_inside(at <= bytes.size() && bytes.size() - at >= sizeof value);
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view text_at(Bytes bytes, std::size_t at, std::size_t size) {
  check_inside(at <= bytes.size() && size <= bytes.size() - at);
  return {reinterpret_cast<const char*>(bytes.data()) + at, size};
}

Json checked_text(std::string_view text) {
  check(io::is_utf8(text), "a text is not UTF-8");
  return std::string(text);
}

std::size_t length_of(std::int64_t number) {
  check(number >= 0, "a text has the length {}", number);
  return static_cast<std::size_t>(number);
}

// The bytes of a value of fixed size as a number.
Json number_of(LeafKind kind, Bytes bytes, std::size_t at) {
  switch (kind) {
    case LeafKind::int32:
      return number_at<std::int32_t>(bytes, at);
    case LeafKind::uint32:
      return number_at<std::uint32_t>(bytes, at);
    case LeafKind::int64:
      return number_at<std::int64_t>(bytes, at);
    case LeafKind::uint64:
      return number_at<std::uint64_t>(bytes, at);
    case LeafKind::float32:
      return static_cast<double>(number_at<float>(bytes, at));
    default:
      return number_at<double>(bytes, at);
  }
}

std::size_t size_of(PhysicalType type) { return type == PhysicalType::int32 || type == PhysicalType::float32 ? 4 : 8; }

Json whole_number(LeafKind kind, std::int64_t value) {
  switch (kind) {
    case LeafKind::int32:
      return static_cast<std::int32_t>(value);
    case LeafKind::uint32:
      return static_cast<std::uint32_t>(value);
    case LeafKind::uint64:
      return static_cast<std::uint64_t>(value);
    default:
      return value;
  }
}

class PlainTexts final : public ValueDecoder {
 public:
  explicit PlainTexts(Bytes page) : page_(page) {}
  Json next() override { return checked_text(next_text()); }
  std::string_view next_text() {
    const auto size = number_at<std::uint32_t>(page_, at_);
    const std::string_view text = text_at(page_, at_ + sizeof size, size);
    at_ += sizeof size + size;
    return text;
  }

 private:
  Bytes page_;
  std::size_t at_ = 0;
};

class PlainNumbers final : public ValueDecoder {
 public:
  PlainNumbers(const Leaf& leaf, Bytes page) : leaf_(leaf), page_(page) {}
  Json next() override { return number_of(leaf_.kind, page_, std::exchange(at_, at_ + size_of(leaf_.type))); }

 private:
  const Leaf& leaf_;
  Bytes page_;
  std::size_t at_ = 0;
};

class PlainBooleans final : public ValueDecoder {
 public:
  explicit PlainBooleans(Bytes page) : page_(page) {}
  Json next() override {
    check_inside(bit_ / 8 < page_.size());
    return bits(page_, bit_++, 1) != 0;
  }

 private:
  Bytes page_;
  std::uint64_t bit_ = 0;
};

class RleBooleans final : public ValueDecoder {
 public:
  explicit RleBooleans(Bytes page) {
    const auto size = number_at<std::uint32_t>(page, 0);
    check_inside(size <= page.size() - sizeof size);
    values_ = HybridDecoder(page.subspan(sizeof size, size), 1);
  }
  Json next() override { return values_.next() != 0; }

 private:
  HybridDecoder values_;
};

class DictionaryValues final : public ValueDecoder {
 public:
  DictionaryValues(const Leaf& leaf, Bytes page, const Dictionary& dictionary)
      : is_text_(leaf.kind == LeafKind::text), dictionary_(dictionary) {
    if (page.empty()) return;  // all values are null
    indices_ = HybridDecoder(page.subspan(1), static_cast<int>(page.front()));
  }
  Json next() override {
    const std::size_t index = indices_.next();
    check(index < (is_text_ ? dictionary_.texts.size() : dictionary_.numbers.size()),
          "a page refers to entry {} of a smaller dictionary", index);
    return is_text_ ? Json(dictionary_.texts[index]) : dictionary_.numbers[index];
  }

 private:
  bool is_text_;
  const Dictionary& dictionary_;
  HybridDecoder indices_;
};

class DeltaNumbers final : public ValueDecoder {
 public:
  DeltaNumbers(const Leaf& leaf, Bytes page) : leaf_(leaf), values_(page) {}
  Json next() override { return whole_number(leaf_.kind, values_.next()); }

 private:
  const Leaf& leaf_;
  DeltaDecoder values_;
};

// All lengths, then all texts.
class DeltaLengthTexts final : public ValueDecoder {
 public:
  explicit DeltaLengthTexts(Bytes page) : page_(page), lengths_(page), at_(lengths_.end()) {}
  Json next() override { return checked_text(next_text()); }
  std::string_view next_text() {
    const std::string_view text = text_at(page_, at_, length_of(lengths_.next()));
    at_ += text.size();
    return text;
  }

 private:
  Bytes page_;
  DeltaDecoder lengths_;
  std::size_t at_;
};

// Texts that begin as the one before them: the lengths of what they share, then the rest of each.
class DeltaTexts final : public ValueDecoder {
 public:
  explicit DeltaTexts(Bytes page) : shared_(page), rests_(page.subspan(shared_.end())) {}
  Json next() override {
    const std::size_t shared = length_of(shared_.next());
    check(shared <= text_.size(), "a text shares {} bytes with a shorter one", shared);
    text_.resize(shared);
    text_ += rests_.next_text();
    return checked_text(text_);
  }

 private:
  DeltaDecoder shared_;
  DeltaLengthTexts rests_;
  std::string text_;
};

// All first bytes, then all second bytes, ...
class SplitNumbers final : public ValueDecoder {
 public:
  SplitNumbers(const Leaf& leaf, Bytes page)
      : leaf_(leaf), page_(page), size_(size_of(leaf.type)), count_(page.size() / size_) {}
  Json next() override {
    check_inside(at_ < count_);
    std::array<std::byte, 8> value{};
    for (std::size_t i = 0; i < size_; ++i) value[i] = page_[i * count_ + at_];
    ++at_;
    return number_of(leaf_.kind, value, 0);
  }

 private:
  const Leaf& leaf_;
  Bytes page_;
  std::size_t size_, count_, at_ = 0;
};

class NoValues final : public ValueDecoder {
 public:
  Json next() override { fail("a column without a type has a value"); }
};

std::unique_ptr<ValueDecoder> plain_decoder(const Leaf& leaf, Bytes page) {
  if (leaf.kind == LeafKind::text) return std::make_unique<PlainTexts>(page);
  if (leaf.kind == LeafKind::boolean) return std::make_unique<PlainBooleans>(page);
  return std::make_unique<PlainNumbers>(leaf, page);
}

}  // namespace

HybridDecoder::HybridDecoder(Bytes bytes, int bit_width) : bytes_(bytes), bit_width_(bit_width) {
  check(bit_width >= 0 && bit_width <= 32, "a page has numbers of {} bits", bit_width);
}

std::uint32_t HybridDecoder::next() {
  while (equal_left_ == 0 && packed_left_ == 0) begin_run();
  if (equal_left_ > 0) {
    --equal_left_;
    return value_;
  }
  --packed_left_;
  const std::uint64_t end = bit_ + static_cast<std::uint64_t>(bit_width_);
  check_inside(end <= 8 * static_cast<std::uint64_t>(bytes_.size()));
  const auto value = static_cast<std::uint32_t>(bits(bytes_, bit_, bit_width_));
  bit_ = end;
  if (packed_left_ == 0) at_ = static_cast<std::size_t>(end / 8);
  return value;
}

void HybridDecoder::begin_run() {
  const std::uint64_t head = varint(bytes_, at_), count = head >> 1;
  check(count < (std::uint64_t{1} << 32), "a page has a run of {} numbers", count);
  if ((head & 1) != 0) {
    packed_left_ = 8 * count;
    bit_ = 8 * static_cast<std::uint64_t>(at_);
    return;
  }
  equal_left_ = count;
  value_ = 0;
  for (int i = 0; i < (bit_width_ + 7) / 8; ++i, ++at_) {
    check_inside(at_ < bytes_.size());
    value_ |= static_cast<std::uint32_t>(bytes_[at_]) << (8 * i);
  }
}

DeltaDecoder::DeltaDecoder(Bytes bytes) : bytes_(bytes) {
  constexpr std::uint64_t kLargestBlock = 1 << 24, kMostMiniblocks = 1 << 12;
  const std::uint64_t block = varint(bytes_, at_), miniblocks = varint(bytes_, at_);
  check(miniblocks > 0 && miniblocks <= kMostMiniblocks && block <= kLargestBlock && block % (8 * miniblocks) == 0 &&
            block > 0,
        "a page has blocks of {} numbers in {} parts", block, miniblocks);
  miniblocks_ = static_cast<std::size_t>(miniblocks);
  miniblock_ = miniblocks_;
  per_miniblock_ = block / miniblocks;
  left_ = varint(bytes_, at_);
  value_ = zigzag(bytes_, at_);
  widths_.resize(miniblocks_);
}

std::int64_t DeltaDecoder::next() {
  check_inside(left_ > 0);
  --left_;
  if (std::exchange(is_first_, false)) return static_cast<std::int64_t>(value_);
  if (in_miniblock_ == 0) begin_miniblock();
  const int width = widths_[miniblock_ - 1];
  value_ += min_delta_ + bits(bytes_, bit_, width);
  bit_ += static_cast<std::uint64_t>(width);
  --in_miniblock_;
  return static_cast<std::int64_t>(value_);
}

void DeltaDecoder::begin_block() {
  min_delta_ = zigzag(bytes_, at_);
  check_inside(miniblocks_ <= bytes_.size() - at_);
  for (std::uint8_t& width : widths_) width = static_cast<std::uint8_t>(bytes_[at_++]);
  miniblock_ = 0;
}

void DeltaDecoder::begin_miniblock() {
  if (miniblock_ == miniblocks_) begin_block();
  const std::size_t size = miniblock_bytes(miniblock_++);
  bit_ = 8 * static_cast<std::uint64_t>(at_);
  at_ += size;
  in_miniblock_ = per_miniblock_;
}

std::size_t DeltaDecoder::miniblock_bytes(std::size_t miniblock) const {
  check(widths_[miniblock] <= 64, "a page has differences of {} bits", widths_[miniblock]);
  const auto size = static_cast<std::size_t>(per_miniblock_ * widths_[miniblock] / 8);
  check_inside(size <= bytes_.size() - at_);
  return size;
}

std::size_t DeltaDecoder::end() const {
  DeltaDecoder copy = *this;
  std::uint64_t left = left_ > 0 && is_first_ ? left_ - 1 : left_;
  for (; left > 0; left -= std::min(left, per_miniblock_)) copy.begin_miniblock();
  return copy.at_;
}

Dictionary read_dictionary(const Leaf& leaf, Bytes page, std::int64_t values) {
  Dictionary dictionary;
  if (leaf.kind == LeafKind::text) {
    PlainTexts texts(page);
    for (std::int64_t i = 0; i < values; ++i) {
      dictionary.texts.push_back(texts.next_text());
      check(io::is_utf8(dictionary.texts.back()), "a text is not UTF-8");
    }
  } else {
    const std::unique_ptr<ValueDecoder> numbers = plain_decoder(leaf, page);
    for (std::int64_t i = 0; i < values; ++i) dictionary.numbers.push_back(numbers->next());
  }
  return dictionary;
}

std::unique_ptr<ValueDecoder> value_decoder(const Leaf& leaf, std::int64_t encoding, Bytes page,
                                            const Dictionary* dictionary) {
  const bool is_text = leaf.kind == LeafKind::text, is_boolean = leaf.kind == LeafKind::boolean;
  const bool is_whole = leaf.type == PhysicalType::int32 || leaf.type == PhysicalType::int64;
  if (leaf.kind == LeafKind::nothing) return std::make_unique<NoValues>();
  switch (encoding) {
    case kPlain:
      return plain_decoder(leaf, page);
    case kPlainDictionary:
    case kRleDictionary:
      check(dictionary != nullptr, "a page needs a dictionary that is not there");
      return std::make_unique<DictionaryValues>(leaf, page, *dictionary);
    case kRle:
      if (is_boolean) return std::make_unique<RleBooleans>(page);
      break;
    case kDelta:
      if (is_whole) return std::make_unique<DeltaNumbers>(leaf, page);
      break;
    case kDeltaLength:
      if (is_text) return std::make_unique<DeltaLengthTexts>(page);
      break;
    case kDeltaBytes:
      if (is_text) return std::make_unique<DeltaTexts>(page);
      break;
    case kByteStreamSplit:
      if (!is_text && !is_boolean) return std::make_unique<SplitNumbers>(leaf, page);
      break;
    default:
      break;
  }
  const bool is_known = encoding >= 0 && encoding < static_cast<std::int64_t>(kEncodingNames.size());
  fail("its values have the encoding {}, which is not supported for them",
       is_known ? kEncodingNames[static_cast<std::size_t>(encoding)] : "number " + std::to_string(encoding));
}

}  // namespace hearth::data::parquet
