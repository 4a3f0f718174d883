#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hearth/io/input_file.h"

namespace hearth::data::parquet {

// Parquet's own numbers of types, codecs and encodings stand in its files.
enum class PhysicalType : std::uint8_t { boolean, int32, int64, int96, float32, float64, byte_array, fixed_bytes };
enum class Repetition : std::uint8_t { required, optional, repeated };

struct SchemaElement {
  std::string name;
  std::optional<PhysicalType> type = {};  // none: a group
  Repetition repetition = Repetition::required;
  std::int64_t children = 0;
  std::optional<std::int64_t> converted_type = {};
  std::optional<int> logical_type = {};  // number of the field of the union LogicalType
  bool is_unsigned = false;              // of the logical type INTEGER
};

struct ColumnChunk {
  std::vector<std::string> path;
  std::int64_t codec = 0, values = 0, compressed_bytes = 0, data_offset = 0, dictionary_offset = 0;

  // Where its pages begin: a dictionary comes first.
  std::int64_t offset() const {
    return dictionary_offset > 0 && dictionary_offset < data_offset ? dictionary_offset : data_offset;
  }
};

struct RowGroup {
  std::vector<ColumnChunk> columns;  // in the order of the leaves of the schema
  std::int64_t rows = 0;
};

struct FileMetadata {
  std::vector<SchemaElement> schema;  // depth first; the first is the root
  std::vector<RowGroup> row_groups;
  std::vector<std::pair<std::string, std::string>> keys;  // and their values
};

// Reads the footer. Errors say what is wrong with it, without the name of the file.
FileMetadata read_metadata(const io::InputFile& file);

enum class PageType : std::uint8_t { data = 0, index = 1, dictionary = 2, data_v2 = 3 };

struct PageHeader {
  PageType type = PageType::data;
  std::int64_t uncompressed_bytes = 0, compressed_bytes = 0;
  std::optional<std::uint32_t> crc = {};
  std::int64_t values = 0, encoding = 0;
  std::int64_t definition_bytes = 0, repetition_bytes = 0;  // of data_v2
  bool is_compressed = true;
};

// Reads the header at the beginning of the bytes and its size; nothing where more bytes are needed.
std::optional<std::pair<PageHeader, std::size_t>> read_page_header(std::span<const std::byte> bytes);

}  // namespace hearth::data::parquet
