#include "hearth/data/parquet/schema.h"

#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/json_kind.h"

namespace hearth::data::parquet {
namespace {

constexpr int kDeepest = 32;
constexpr std::int64_t kMostColumns = 100'000;

// Numbers of LogicalType and ConvertedType.
enum Logical { kString = 1, kMap, kList, kEnum, kInteger = 10, kUnknown = 11, kJson = 12 };
enum Converted {
  kUtf8 = 0,
  kMapConverted,
  kMapKeyValue,
  kListConverted,
  kEnumConverted,
  kUint32 = 13,
  kUint64 = 14,
  kFirstInteger = 11,
  kLastInteger = 18,
  kJsonConverted = 19
};

constexpr std::array<std::string_view, 17> kLogicalNames{"",     "STRING", "MAP",       "LIST",    "ENUM",    "DECIMAL",
                                                         "DATE", "TIME",   "TIMESTAMP", "",        "INTEGER", "NULL",
                                                         "JSON", "BSON",   "UUID",      "FLOAT16", "VARIANT"};
constexpr std::array<std::string_view, 22> kConvertedNames{
    "UTF8",    "MAP",       "MAP",       "LIST",    "ENUM",    "DECIMAL", "DATE",    "TIME",
    "TIME",    "TIMESTAMP", "TIMESTAMP", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER",
    "INTEGER", "INTEGER",   "INTEGER",   "JSON",    "BSON",    "INTERVAL"};
constexpr std::array<std::string_view, 8> kPhysicalNames{"BOOLEAN", "INT32",  "INT64",      "INT96",
                                                         "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
constexpr std::array<std::string_view, 9> kKindNames{"text",   "bool",  "int32",  "int64", "uint32",
                                                     "uint64", "float", "double", "null"};

template <std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, std::int64_t number) {
  const bool is_known = number >= 0 && number < static_cast<std::int64_t>(N);
  return is_known && !names[static_cast<std::size_t>(number)].empty() ? names[static_cast<std::size_t>(number)]
                                                                      : "an unknown type";
}

// The name of a type that cannot be read.
std::string_view type_name(const SchemaElement& element) {
  if (element.logical_type) return name_in(kLogicalNames, *element.logical_type);
  if (element.converted_type) return name_in(kConvertedNames, *element.converted_type);
  return kPhysicalNames[static_cast<std::size_t>(*element.type)];
}

bool is_plain(const SchemaElement& element) { return !element.logical_type && !element.converted_type; }

bool is_integer(const SchemaElement& element) {
  if (element.logical_type) return *element.logical_type == kInteger;
  return !element.converted_type ||
         (*element.converted_type >= kFirstInteger && *element.converted_type <= kLastInteger);
}

bool is_unsigned(const SchemaElement& element, Converted own) {
  return element.logical_type ? element.is_unsigned : element.converted_type == own;
}

bool is_text(const SchemaElement& element) {
  if (element.logical_type)
    return *element.logical_type == kString || *element.logical_type == kEnum || *element.logical_type == kJson;
  return element.converted_type == kUtf8 || element.converted_type == kEnumConverted ||
         element.converted_type == kJsonConverted;
}

// Nothing where the type cannot be read.
std::optional<LeafKind> leaf_kind(const SchemaElement& element) {
  if (element.logical_type == kUnknown) return LeafKind::nothing;
  switch (*element.type) {
    case PhysicalType::boolean:
      return is_plain(element) ? std::optional(LeafKind::boolean) : std::nullopt;
    case PhysicalType::int32:
      if (!is_integer(element)) return std::nullopt;
      return is_unsigned(element, kUint32) ? LeafKind::uint32 : LeafKind::int32;
    case PhysicalType::int64:
      if (!is_integer(element)) return std::nullopt;
      return is_unsigned(element, kUint64) ? LeafKind::uint64 : LeafKind::int64;
    case PhysicalType::float32:
      return is_plain(element) ? std::optional(LeafKind::float32) : std::nullopt;
    case PhysicalType::float64:
      return is_plain(element) ? std::optional(LeafKind::float64) : std::nullopt;
    case PhysicalType::byte_array:
      return is_text(element) ? std::optional(LeafKind::text) : std::nullopt;
    case PhysicalType::int96:
    case PhysicalType::fixed_bytes:
      break;
  }
  return std::nullopt;
}

bool is_list(const SchemaElement& element) {
  return element.logical_type ? *element.logical_type == kList : element.converted_type == kListConverted;
}

bool is_map(const SchemaElement& element) {
  return element.logical_type ? *element.logical_type == kMap
                              : element.converted_type == kMapConverted || element.converted_type == kMapKeyValue;
}

struct Levels {
  int definition = 0, repetition = 0;
};

class Builder {
 public:
  explicit Builder(const std::vector<SchemaElement>& elements) : elements_(elements) {}

  Schema build() {
    check(!elements_.empty() && !elements_.front().type, "its schema has no root");
    const std::int64_t columns = next().children;
    check(columns >= 0 && columns <= kMostColumns, "its schema has {} columns", columns);
    for (std::int64_t i = 0; i < columns; ++i) schema_.columns.push_back(node({}, 0));
    check(at_ == elements_.size(), "its schema has more nodes than it says");
    return std::move(schema_);
  }

 private:
  const SchemaElement& next() {
    check(at_ < elements_.size(), "its schema has fewer nodes than it says");
    return elements_[at_++];
  }

  Node node(Levels levels, int depth) {
    check(depth <= kDeepest, "its schema is nested too deeply");
    const SchemaElement& element = next();
    if (element.repetition == Repetition::repeated) {  // a list without a group around it
      Node list{element.name, Node::Shape::list, levels.definition};
      return with_item(std::move(list), levels, [&](Levels inside) { return content(element, inside, depth); });
    }
    if (element.repetition == Repetition::optional) ++levels.definition;
    return content(element, levels, depth);
  }

  // The value of an element whose own repetition is in `levels`.
  Node content(const SchemaElement& element, Levels levels, int depth) {
    if (element.type) return leaf(element, levels);
    check(element.children > 0, "its schema has the empty group {}", element.name);
    if (is_list(element) && element.children == 1) return list(element, levels, depth);
    Node object{element.name, Node::Shape::object, levels.definition};
    object.first_leaf = schema_.leaves.size();
    for (std::int64_t i = 0; i < element.children; ++i) object.children.push_back(node(levels, depth + 1));
    object.leaves = schema_.leaves.size() - object.first_leaf;
    for (const Node& child : object.children)
      if (object.unsupported.empty()) object.unsupported = child.unsupported;
    if (is_map(element)) object.unsupported = "MAP";
    return object;
  }

  // The rules of Parquet's LogicalTypes.md, with the older forms: the repeated node is the item itself unless it is a
  // group with one field that is not named as old writers named an item.
  Node list(const SchemaElement& element, Levels levels, int depth) {
    const SchemaElement& repeated = next();
    check(repeated.repetition == Repetition::repeated, "its list {} has no repeated node", element.name);
    const bool is_item =
        repeated.type || repeated.children != 1 || repeated.name == "array" || repeated.name == element.name + "_tuple";
    Node list{element.name, Node::Shape::list, levels.definition};
    return with_item(std::move(list), levels, [&](Levels inside) {
      return is_item ? content(repeated, inside, depth + 1) : node(inside, depth + 1);
    });
  }

  template <class Item>
  Node with_item(Node list, Levels levels, const Item& item) {
    list.item_definition = ++levels.definition;
    list.item_repetition = ++levels.repetition;
    list.children.push_back(item(levels));
    list.first_leaf = list.children.front().first_leaf;
    list.leaves = list.children.front().leaves;
    list.unsupported = list.children.front().unsupported;
    return list;
  }

  Node leaf(const SchemaElement& element, Levels levels) {
    Node node{element.name, Node::Shape::leaf, levels.definition};
    const std::optional<LeafKind> kind = leaf_kind(element);
    if (!kind) node.unsupported = type_name(element);
    node.first_leaf = schema_.leaves.size();
    node.leaves = 1;
    schema_.leaves.push_back({*element.type, kind.value_or(LeafKind::nothing), levels.definition, levels.repetition});
    return node;
  }

  const std::vector<SchemaElement>& elements_;
  std::size_t at_ = 0;
  Schema schema_;
};

ColumnKind kind_of_leaf(LeafKind kind) {
  switch (kind) {
    case LeafKind::boolean:
      return ColumnKind::boolean;
    case LeafKind::int32:
    case LeafKind::int64:
    case LeafKind::uint32:
    case LeafKind::uint64:
      return ColumnKind::integer;
    case LeafKind::float32:
    case LeafKind::float64:
      return ColumnKind::number;
    case LeafKind::text:
    case LeafKind::nothing:
      break;
  }
  return ColumnKind::text;
}

}  // namespace

Schema schema_of(const FileMetadata& metadata) { return Builder(metadata.schema).build(); }

ColumnKind kind_of(const Node& column, const Schema& schema) {
  if (!column.unsupported.empty()) return ColumnKind::other;
  const auto kind = [&](const Node& leaf) { return kind_of_leaf(schema.leaves[leaf.first_leaf].kind); };
  if (column.shape == Node::Shape::leaf) return kind(column);
  if (column.shape != Node::Shape::list || column.children.front().shape != Node::Shape::leaf) return ColumnKind::other;
  return list_of(kind(column.children.front()));
}

std::string type_name(const Node& node, const Schema& schema) {
  std::vector<std::string> fields;
  switch (node.shape) {
    case Node::Shape::leaf:
      return node.unsupported.empty()
                 ? std::string(kKindNames[static_cast<std::size_t>(schema.leaves[node.first_leaf].kind)])
                 : node.unsupported;
    case Node::Shape::list:
      return fmt::format("list<{}>", type_name(node.children.front(), schema));
    case Node::Shape::object:
      for (const Node& child : node.children)
        fields.push_back(fmt::format("{}: {}", child.name, type_name(child, schema)));
  }
  return fmt::format("struct<{}>", fmt::join(fields, ", "));
}

}  // namespace hearth::data::parquet
