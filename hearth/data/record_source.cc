#include "hearth/data/record_source.h"

#include <fmt/ranges.h>

#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/csv_records.h"
#include "hearth/data/json_records.h"
#include "hearth/data/parquet/parquet_records.h"
#include "hearth/data/record_format.h"
#include "hearth/data/text_records.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

RecordSourcePtr open_file(const std::filesystem::path& file, RecordFormat format, std::string_view known_column) {
  switch (format) {
    case RecordFormat::json:
      return std::make_unique<JsonRecords>(file, known_column);
    case RecordFormat::json_lines:
      return std::make_unique<JsonLines>(io::TextBuffer(file));
    case RecordFormat::csv:
      return std::make_unique<CsvRecords>(file, ',');
    case RecordFormat::tsv:
      return std::make_unique<CsvRecords>(file, '\t');
    case RecordFormat::parquet:
      return std::make_unique<ParquetRecords>(file);
    case RecordFormat::text:
      break;
  }
  return std::make_unique<TextRecords>(file);
}

std::string described(const std::vector<RecordField>& fields) {
  std::vector<std::string> all;
  for (const RecordField& field : fields)
    all.push_back(field.type.empty() ? field.name : fmt::format("{} ({})", field.name, field.type));
  return fmt::format("{}", fmt::join(all, ", "));
}

// Shards of a data set, one after another.
class Shards final : public RecordSource {
 public:
  Shards(Files files, OpenFile open) : files_(std::move(files)), open_file_(std::move(open)) {
    fields_ = open_file_(files_.front())->fields();
    for (at_ = files_.size(); at_-- > 0;) {  // faults of all files are found at once; the first file stays open
      this->open();
      const std::optional<std::int64_t> own = source_->rows();
      rows_ = rows_ && own ? std::optional(*rows_ + *own) : std::nullopt;
    }
    at_ = 0;
  }

  bool next(io::Json& record) override {
    while (!source_->next(record)) {
      if (at_ + 1 == files_.size()) return false;
      ++at_;
      open();
    }
    return true;
  }
  const std::string& file() const override { return source_->file(); }
  std::int64_t number() const override { return source_->number(); }
  const std::vector<RecordField>& fields() const override { return fields_; }
  std::optional<std::int64_t> rows() const override { return rows_; }
  void select(const std::vector<std::string>& names) override {
    selected_ = names;
    source_->select(names);
  }

 private:
  void open() {
    source_ = open_file_(files_[at_]);
    check(source_->fields() == fields_,
          "{} has the columns {}, but {} has {}; files that are read as one need the same columns of the same types",
          files_[at_].string(), described(source_->fields()), files_.front().string(), described(fields_));
    if (selected_) source_->select(*selected_);
  }

  Files files_;
  OpenFile open_file_;
  std::size_t at_ = 0;
  RecordSourcePtr source_;
  std::vector<RecordField> fields_;  // of the first file
  std::optional<std::int64_t> rows_ = 0;
  std::optional<std::vector<std::string>> selected_;
};

}  // namespace

RecordSourcePtr records_in_turn(const Files& files, OpenFile open) {
  check(!files.empty(), "[records] no file was given");
  if (files.size() == 1) return open(files.front());
  return std::make_unique<Shards>(files, std::move(open));
}

RecordSourcePtr open_records(const Files& files, std::string_view known_column) {
  const std::optional<RecordFormat> format = files.empty() ? std::nullopt : record_format_of(files.front());
  for (const std::filesystem::path& file : files) {
    const std::optional<RecordFormat> own = record_format_of(file);
    check(own.has_value(), "{} is not a file of records: its name must end in {}", file.string(), record_endings());
    check(own == format, "{} and {} have different formats; files that are read as one need the same",
          files.front().string(), file.string());
  }
  return records_in_turn(files, [format, column = std::string(known_column)](const std::filesystem::path& file) {
    return open_file(file, *format, column);
  });
}

}  // namespace hearth::data
