// A plain reader of event files, written from the format's description and without the code under test.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth {

// CRC-32C bit by bit, and TensorFlow's mask.
inline std::uint32_t plain_masked_crc(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <class T>
T plain_number(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.substr(0, sizeof value).data(), sizeof value);
  return value;
}

// The fields of a protocol buffer: numbers as eight bytes, texts and messages as they are.
struct ProtoFields {
  std::multimap<unsigned, std::string> fields;

  explicit ProtoFields(std::string_view bytes) {
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        check(!bytes.empty() && shift < 64, "a number is cut off");
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (!bytes.empty()) {
      const std::uint64_t key = varint();
      std::string value;
      const auto take = [&](std::size_t size) {
        check(size <= bytes.size(), "a field is cut off");
        value = std::string(bytes.substr(0, size));
        bytes.remove_prefix(size);
      };
      if ((key & 7) == 0) {
        const std::uint64_t number = varint();
        value.assign(reinterpret_cast<const char*>(&number), sizeof number);
      } else {
        take((key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : varint());
      }
      fields.emplace(static_cast<unsigned>(key >> 3), value);
    }
  }

  bool has(unsigned field) const { return fields.contains(field); }
  std::string text(unsigned field) const {
    check(has(field), "there is no field {}", field);
    return fields.find(field)->second;
  }
  template <class T>
  T number(unsigned field) const {
    return plain_number<T>(text(field));
  }
  ProtoFields message(unsigned field) const { return ProtoFields(text(field)); }
};

struct ReadEvent {
  std::int64_t step = 0;
  double wall_time = 0;
  std::string version;                   // of the first one
  bool is_restart = false;               // a session starts
  std::map<std::string, float> scalars;  // by tag
  std::map<std::string, std::string> texts;
  std::map<std::string, ProtoFields> histograms;
};

inline std::vector<ReadEvent> read_events(const std::filesystem::path& file) {
  const std::string contents = io::read_file(file);
  std::string_view rest = contents;
  std::vector<ReadEvent> events;
  while (!rest.empty()) {
    check(rest.size() >= 12, "a record is cut off");
    const auto length = plain_number<std::uint64_t>(rest);
    check(plain_number<std::uint32_t>(rest.substr(8)) == plain_masked_crc(rest.substr(0, 8)), "checksum of a length");
    check(rest.size() >= length + 16, "a record is cut off");
    const std::string_view data = rest.substr(12, length);
    check(plain_number<std::uint32_t>(rest.substr(12 + length)) == plain_masked_crc(data), "checksum of a record");
    rest.remove_prefix(length + 16);

    const ProtoFields proto(data);
    ReadEvent event;
    event.wall_time = proto.number<double>(1);
    if (proto.has(2)) event.step = proto.number<std::int64_t>(2);
    if (proto.has(3)) event.version = proto.text(3);
    if (proto.has(7)) event.is_restart = proto.message(7).number<std::int64_t>(1) == 1;
    if (proto.has(5)) {
      const ProtoFields summary = proto.message(5);
      for (const auto& [field, bytes] : summary.fields) {
        const ProtoFields value(bytes);
        if (value.has(2)) event.scalars[value.text(1)] = value.number<float>(2);
        if (value.has(5)) event.histograms.emplace(value.text(1), value.message(5));
        if (value.has(8)) {
          check(value.message(9).message(1).text(1) == "text", "a tensor that is no text");
          event.texts[value.text(1)] = value.message(8).text(8);
        }
      }
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace hearth
