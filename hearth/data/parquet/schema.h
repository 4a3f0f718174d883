#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/data/parquet/metadata.h"

namespace hearth::data::parquet {

enum class LeafKind : std::uint8_t { text, boolean, int32, int64, uint32, uint64, float32, float64, nothing };

// A leaf of the schema: one column of values in the file, each with a definition level (how many of the optional and
// repeated nodes above it are there) and a repetition level (at which list it goes on).
struct Leaf {
  PhysicalType type = PhysicalType::int32;
  LeafKind kind = LeafKind::nothing;
  int definition = 0, repetition = 0;  // the highest levels
};

// A node of the schema as values see it: lists are lists, whatever groups the file has around them.
struct Node {
  enum class Shape : std::uint8_t { leaf, object, list };

  std::string name;
  Shape shape = Shape::leaf;
  int definition = 0;                            // the level from which on the value is there, not null
  int item_definition = 0, item_repetition = 0;  // of a list: the levels at which it has items and goes on
  std::vector<Node> children = {};               // of an object: its fields; of a list: its item
  std::size_t first_leaf = 0, leaves = 0;        // the leaves below it
  std::string unsupported = {};                  // the name of a type below it that cannot be read; empty: none
};

struct Schema {
  std::vector<Node> columns;
  std::vector<Leaf> leaves;
};

// Errors say what is wrong, without the name of the file.
Schema schema_of(const FileMetadata& metadata);

ColumnKind kind_of(const Node& column, const Schema& schema);
std::string type_name(const Node& column, const Schema& schema);  // "list<text>", "TIMESTAMP", ...

}  // namespace hearth::data::parquet
