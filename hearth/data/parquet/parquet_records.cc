#include "hearth/data/parquet/parquet_records.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/parquet/class_names.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using io::Json;
using parquet::Node;

// Runs `body`; its Errors say what is wrong with the file, and get its name.
template <class Body>
auto in_file(const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    fail("{} cannot be read as Parquet: {}", name, error.what());
  }
}

}  // namespace

struct ParquetRecords::Cursor {
  std::unique_ptr<parquet::LeafReader> reader;
  bool has_value = false;

  void advance() { has_value = reader->advance(); }
  int definition() const {
    check(has_value, "a column has fewer values than another");
    return reader->definition();
  }
  // Whether a list of this repetition level goes on.
  bool repeats(int level) const { return has_value && reader->repetition() >= level; }
};

ParquetRecords::ParquetRecords(const std::filesystem::path& file) : name_(file.string()), file_(file) {
  in_file(name_, [&] {
    metadata_ = parquet::read_metadata(file_);
    schema_ = parquet::schema_of(metadata_);
  });
  for (const Node& column : schema_.columns)
    fields_.push_back({column.name, parquet::kind_of(column, schema_), parquet::type_name(column, schema_),
                       parquet::class_names(metadata_, column.name, name_)});
  for (const Node& column : schema_.columns) selected_.push_back(column.unsupported.empty());
}

ParquetRecords::~ParquetRecords() = default;

std::optional<std::int64_t> ParquetRecords::rows() const {
  std::int64_t rows = 0;
  for (const parquet::RowGroup& group : metadata_.row_groups) rows += group.rows;
  return rows;
}

void ParquetRecords::select(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    const Node& column = schema_.columns[i];
    selected_[i] = std::ranges::find(names, column.name) != names.end();
    check(!selected_[i] || column.unsupported.empty(),
          "{}: column \"{}\" has the type {}, which is not supported; write it as text or as numbers", name_,
          column.name, fields_[i].type);
  }
}

bool ParquetRecords::next(Json& record) {
  return in_file(name_, [&] {
    while (rows_left_ == 0)
      if (!begin_row_group()) return false;
    --rows_left_;
    ++number_;
    read_row(record);
    return true;
  });
}

bool ParquetRecords::begin_row_group() {
  for (const Cursor& cursor : cursors_)
    check(!cursor.has_value, "a column has more values than its row group has rows");
  if (group_ == metadata_.row_groups.size()) return false;
  const parquet::RowGroup& group = metadata_.row_groups[group_++];
  check(group.columns.size() == schema_.leaves.size() && group.rows >= 0,
        "a row group has {} columns, but the schema has {}", group.columns.size(), schema_.leaves.size());
  rows_left_ = group.rows;
  cursors_.clear();
  cursors_.resize(schema_.leaves.size());
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    const Node& column = schema_.columns[i];
    for (std::size_t leaf = column.first_leaf; selected_[i] && leaf < column.first_leaf + column.leaves; ++leaf) {
      cursors_[leaf].reader = std::make_unique<parquet::LeafReader>(file_, schema_.leaves[leaf], group.columns[leaf]);
      cursors_[leaf].advance();
    }
  }
  return true;
}

void ParquetRecords::read_row(Json& record) {
  record = Json::object();
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    if (!selected_[i]) continue;
    const Node& column = schema_.columns[i];
    record.emplace(column.name, value(column));
    for (std::size_t leaf = column.first_leaf; leaf < column.first_leaf + column.leaves; ++leaf)
      check(!cursors_[leaf].repeats(1), "a list goes on beyond its row");
  }
}

Json ParquetRecords::value(const Node& node) {
  Cursor& first = cursors_[node.first_leaf];
  if (first.definition() < node.definition) {
    skip(node, node.definition);
    return nullptr;
  }
  if (node.shape == Node::Shape::list) return list(node);
  if (node.shape == Node::Shape::object) {
    Json object = Json::object();
    for (const Node& child : node.children) object[child.name] = value(child);
    return object;
  }
  Json taken = first.reader->take();
  first.advance();
  return taken;
}

Json ParquetRecords::list(const Node& node) {
  Json items = Json::array();
  if (cursors_[node.first_leaf].definition() < node.item_definition) {
    skip(node, node.item_definition);
    return items;
  }
  do {
    items.push_back(value(node.children.front()));
  } while (cursors_[node.first_leaf].repeats(node.item_repetition));
  return items;
}

// A null or an empty list takes one place in each of its leaves.
void ParquetRecords::skip(const Node& node, int definition) {
  for (std::size_t leaf = node.first_leaf; leaf < node.first_leaf + node.leaves; ++leaf) {
    check(cursors_[leaf].definition() < definition, "the columns of a group disagree on what is missing");
    cursors_[leaf].advance();
  }
}

}  // namespace hearth::data
