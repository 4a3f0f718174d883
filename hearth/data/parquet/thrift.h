#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace hearth::data::parquet {

// The text ended before a value did. Not an Error: more bytes may follow.
struct Truncated {};

// Reads Thrift's compact protocol, in which Parquet writes its headers. Malformed input is an Error; a text that ends
// too early throws Truncated.
class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    real = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12
  };

  explicit ThriftReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Calls `take(id, type)` for each field of a structure; `take` reads the field with one of the functions below, or
  // returns false to have it skipped.
  void structure(const std::function<bool(int id, Type type)>& take);
  // Calls `take(type)` for each item of a list.
  void list(const std::function<void(Type items)>& take);
  std::int64_t integer();
  std::string_view binary();  // a view of the bytes
  std::size_t position() const { return at_; }

 private:
  std::uint8_t byte();
  std::uint64_t varint();
  void skip(Type type);

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Checks, while a field is read, that it has the type that the format gives it.
void expect(ThriftReader::Type found, ThriftReader::Type wanted);

}  // namespace hearth::data::parquet
