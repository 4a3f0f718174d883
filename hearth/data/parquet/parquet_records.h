#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/data/parquet/leaf_reader.h"
#include "hearth/data/parquet/schema.h"
#include "hearth/data/record_source.h"
#include "hearth/io/input_file.h"

namespace hearth::data {

// The rows of a .parquet file. Columns whose types cannot be read are left out, unless select() asks for one. Names of
// class labels are those that Hugging Face's datasets stores under the key "huggingface".
class ParquetRecords final : public RecordSource {
 public:
  explicit ParquetRecords(const std::filesystem::path& file);
  ~ParquetRecords() override;

  bool next(io::Json& record) override;
  const std::string& file() const override { return name_; }
  std::int64_t number() const override { return number_; }
  const std::vector<RecordField>& fields() const override { return fields_; }
  std::optional<std::int64_t> rows() const override;
  void select(const std::vector<std::string>& names) override;

 private:
  struct Cursor;  // in the values of a leaf

  bool begin_row_group();
  void read_row(io::Json& record);
  io::Json value(const parquet::Node& node);
  io::Json list(const parquet::Node& node);
  void skip(const parquet::Node& node, int definition);  // what is missing below this level

  std::string name_;
  io::InputFile file_;
  parquet::FileMetadata metadata_;
  parquet::Schema schema_;
  std::vector<RecordField> fields_;
  std::vector<bool> selected_;   // by column
  std::vector<Cursor> cursors_;  // by leaf; empty for those that are not read
  std::size_t group_ = 0;        // the next row group
  std::int64_t rows_left_ = 0, number_ = 0;
};

}  // namespace hearth::data
