#include "hearth/data/parquet/thrift.h"

#include "hearth/base/check.h"

namespace hearth::data::parquet {
namespace {

constexpr int kDeepest = 64;

using Type = ThriftReader::Type;

Type type_of(std::uint8_t nibble) {
  check(nibble <= static_cast<std::uint8_t>(Type::structure), "a header has a field of the unknown type {}", nibble);
  return static_cast<Type>(nibble);
}

std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace

void ThriftReader::structure(const std::function<bool(int, Type)>& take) {
  check(++depth_ <= kDeepest, "a header is nested too deeply");
  for (std::int64_t id = 0;;) {
    const std::uint8_t head = byte();
    const Type type = type_of(head & 0x0F);
    if (type == Type::stop) break;
    const int step = head >> 4;
    id = step != 0 ? id + step : from_zigzag(varint());
    check(id > 0 && id < (1 << 15), "a header has a field with the number {}", id);
    if (!take(static_cast<int>(id), type)) skip(type);
  }
  --depth_;
}

void ThriftReader::list(const std::function<void(Type)>& take) {
  const std::uint8_t head = byte();
  const Type type = type_of(head & 0x0F);
  check(type != Type::stop, "a header has a list of nothing");  // whose items would take no bytes
  constexpr std::uint8_t kLong = 15;
  const std::uint64_t size = head >> 4 == kLong ? varint() : head >> 4;
  for (std::uint64_t i = 0; i < size; ++i) take(type);
}

std::int64_t ThriftReader::integer() { return from_zigzag(varint()); }

std::string_view ThriftReader::binary() {
  const std::uint64_t size = varint();
  if (size > bytes_.size() - at_) throw Truncated{};
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
  at_ += size;
  return text;
}

std::uint8_t ThriftReader::byte() {
  if (at_ == bytes_.size()) throw Truncated{};
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    check(shift < 64, "a header has a number of more than 64 bits");
    const std::uint8_t next = byte();
    value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
    if (next < 0x80) return value;
  }
}

void ThriftReader::skip(Type type) {
  constexpr std::size_t kReal = 8;
  switch (type) {
    case Type::yes:
    case Type::no:
    case Type::stop:
      return;
    case Type::byte:
      byte();
      return;
    case Type::i16:
    case Type::i32:
    case Type::i64:
      varint();
      return;
    case Type::real:
      for (std::size_t i = 0; i < kReal; ++i) byte();
      return;
    case Type::binary:
      binary();
      return;
    case Type::structure:
      return structure([](int, Type) { return false; });
    case Type::list:
    case Type::set:
      // The items of a list of booleans take a byte each, unlike fields.
      return list([this](Type items) { items == Type::yes || items == Type::no ? void(byte()) : skip(items); });
    case Type::map:
      break;
  }
  fail("a header has a map, which Parquet does not use");
}

void expect(Type found, Type wanted) {
  check(found == wanted, "a header has a field of type {} instead of {}", static_cast<int>(found),
        static_cast<int>(wanted));
}

}  // namespace hearth::data::parquet
