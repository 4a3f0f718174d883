#include "hearth/data/parquet/metadata.h"

#include <array>
#include <cstring>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/data/parquet/thrift.h"

namespace hearth::data::parquet {
namespace {

using Type = ThriftReader::Type;

constexpr std::string_view kMagic = "PAR1", kEncryptedMagic = "PARE";
constexpr std::uint64_t kEnd = 8;  // bytes after the footer: its size and the magic

class FooterReader {
 public:
  explicit FooterReader(std::span<const std::byte> bytes) : in_(bytes) {}

  FileMetadata read() {
    FileMetadata file;
    in_.structure([&](int id, Type type) {
      switch (id) {
        case 2:
          return list(type, [&] { file.schema.push_back(schema_element()); });
        case 4:
          return list(type, [&] { file.row_groups.push_back(row_group()); });
        case 5:
          return list(type, [&] { file.keys.push_back(key_value()); });
        default:
          return false;
      }
    });
    return file;
  }

 private:
  bool list(Type type, const std::function<void()>& item) {
    expect(type, Type::list);
    in_.list([&](Type items) {
      expect(items, Type::structure);
      item();
    });
    return true;
  }
  bool take(Type type, std::int64_t& into) {
    check(type == Type::byte || type == Type::i16 || type == Type::i32 || type == Type::i64,
          "a header has a field that is no whole number");
    into = in_.integer();
    return true;
  }
  bool take(Type type, std::string& into) {
    expect(type, Type::binary);
    into = in_.binary();
    return true;
  }

  SchemaElement schema_element() {
    SchemaElement element;
    std::int64_t number = 0;
    in_.structure([&](int id, Type type) {
      switch (id) {
        case 1:
          take(type, number);
          check(number >= 0 && number <= static_cast<std::int64_t>(PhysicalType::fixed_bytes),
                "the schema has the unknown type {}", number);
          element.type = static_cast<PhysicalType>(number);
          return true;
        case 3:
          take(type, number);
          check(number >= 0 && number <= static_cast<std::int64_t>(Repetition::repeated),
                "the schema has the unknown repetition {}", number);
          element.repetition = static_cast<Repetition>(number);
          return true;
        case 4:
          return take(type, element.name);
        case 5:
          return take(type, element.children);
        case 6:
          take(type, number);
          element.converted_type = number;
          return true;
        case 10:
          expect(type, Type::structure);
          logical_type(element);
          return true;
        default:
          return false;
      }
    });
    return element;
  }

  void logical_type(SchemaElement& element) {
    constexpr int kInteger = 10;
    in_.structure([&](int kind, Type type) {
      element.logical_type = kind;
      if (kind != kInteger || type != Type::structure) return false;
      in_.structure([&](int id, Type field) {
        if (id == 2) element.is_unsigned = field == Type::no;
        return false;
      });
      return true;
    });
  }

  RowGroup row_group() {
    RowGroup group;
    in_.structure([&](int id, Type type) {
      if (id == 3) return take(type, group.rows);
      if (id != 1) return false;
      return list(type, [&] { group.columns.push_back(column_chunk()); });
    });
    return group;
  }

  ColumnChunk column_chunk() {
    ColumnChunk chunk;
    bool found = false;
    in_.structure([&](int id, Type type) {
      check(id != 1, "its columns lie in other files");
      if (id != 3) return false;
      expect(type, Type::structure);
      chunk = column_metadata();
      return found = true;
    });
    check(found, "a column has no metadata; encrypted files are not supported");
    return chunk;
  }

  ColumnChunk column_metadata() {
    ColumnChunk chunk;
    in_.structure([&](int id, Type type) {
      switch (id) {
        case 3:
          expect(type, Type::list);
          in_.list([&](Type items) { take(items, chunk.path.emplace_back()); });
          return true;
        case 4:
          return take(type, chunk.codec);
        case 5:
          return take(type, chunk.values);
        case 7:
          return take(type, chunk.compressed_bytes);
        case 9:
          return take(type, chunk.data_offset);
        case 11:
          return take(type, chunk.dictionary_offset);
        default:
          return false;
      }
    });
    return chunk;
  }

  std::pair<std::string, std::string> key_value() {
    std::pair<std::string, std::string> pair;
    in_.structure(
        [&](int id, Type type) { return id == 1 ? take(type, pair.first) : id == 2 && take(type, pair.second); });
    return pair;
  }

  ThriftReader in_;
};

class PageHeaderReader {
 public:
  explicit PageHeaderReader(std::span<const std::byte> bytes) : in_(bytes) {}

  PageHeader read() {
    bool has_details = false;
    in_.structure([&](int id, Type type) {
      switch (id) {
        case 1:
          header_.type = static_cast<PageType>(number(type, 3));
          return true;
        case 2:
          header_.uncompressed_bytes = number(type);
          return true;
        case 3:
          header_.compressed_bytes = number(type);
          return true;
        case 4:
          expect(type, Type::i32);
          header_.crc = static_cast<std::uint32_t>(in_.integer());
          return true;
        case 5:  // of a data page, a dictionary and a data page v2
        case 7:
        case 8:
          expect(type, Type::structure);
          details(id == 8);
          return has_details = true;
        default:
          return false;
      }
    });
    check(has_details || header_.type == PageType::index, "a page has no header of its type");
    return header_;
  }
  std::size_t position() const { return in_.position(); }

 private:
  std::int64_t number(Type type, std::int64_t most = std::int64_t{1} << 31) {
    expect(type, Type::i32);
    const std::int64_t value = in_.integer();
    check(value >= 0 && value <= most, "a page has the impossible number {} in its header", value);
    return value;
  }

  void details(bool is_v2) {
    in_.structure([&](int id, Type type) {
      if (id == 1) {
        header_.values = number(type);
      } else if (id == (is_v2 ? 4 : 2)) {
        header_.encoding = number(type);
      } else if (is_v2 && id == 5) {
        header_.definition_bytes = number(type);
      } else if (is_v2 && id == 6) {
        header_.repetition_bytes = number(type);
      } else if (is_v2 && id == 7) {
        header_.is_compressed = type == Type::yes;
        return type == Type::yes || type == Type::no;
      } else {
        return false;
      }
      return true;
    });
  }

  ThriftReader in_;
  PageHeader header_;
};

}  // namespace

FileMetadata read_metadata(const io::InputFile& file) {
  check(file.size() >= kMagic.size() + kEnd, "it is too short");
  std::array<char, kEnd> end{};
  file.read_at(file.size() - kEnd, std::as_writable_bytes(std::span(end)));
  const std::string_view magic(end.data() + 4, 4);
  check(magic != kEncryptedMagic, "it is encrypted, which is not supported");
  check(magic == kMagic, "it does not end as a Parquet file does, so it is none or is cut short");
  std::uint32_t size = 0;
  std::memcpy(&size, end.data(), sizeof size);
  check(size <= file.size() - kEnd - kMagic.size(), "its footer of {} bytes is larger than the file", size);
  std::vector<std::byte> footer(size);
  file.read_at(file.size() - kEnd - size, footer);
  try {
    return FooterReader(footer).read();
  } catch (const Truncated&) {
    fail("its footer is cut short");
  }
}

std::optional<std::pair<PageHeader, std::size_t>> read_page_header(std::span<const std::byte> bytes) {
  PageHeaderReader reader(bytes);
  try {
    const PageHeader header = reader.read();
    return std::pair(header, reader.position());
  } catch (const Truncated&) {
    return std::nullopt;
  }
}

}  // namespace hearth::data::parquet
