#include "hearth/data/table_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/csv_column.h"
#include "hearth/data/json_column.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using io::Json;

void check_object(const Json& record, const RecordSource& source) {
  check(record.is_object(), "{} must be an object with named fields, such as {}", text_of(source.place()),
        R"({"sentence": "It rains.", "label": 0})");
}

// The kinds of the columns of a .csv file, whose header names them.
std::vector<RecordField> csv_fields(RecordSource& source, std::int64_t& rows) {
  std::vector<RecordField> fields = source.fields();
  std::vector<CsvKind> kinds(fields.size());
  for (Json record; source.next(record); ++rows) {
    auto cell = record.begin();
    for (CsvKind& kind : kinds) kind.add((cell++)->get_ref<const std::string&>());
  }
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].kind = kinds[i].kind();
  return fields;
}

// The fields of JSON records, in the order in which they first appear.
std::vector<RecordField> json_fields(RecordSource& source, std::int64_t& rows) {
  std::vector<RecordField> fields;
  std::vector<JsonKind> kinds;
  std::unordered_map<std::string, std::size_t> places;
  for (Json record; source.next(record); ++rows) {
    check_object(record, source);
    for (const auto& [name, value] : record.items()) {
      const auto [found, is_new] = places.emplace(name, fields.size());
      if (is_new) {
        fields.push_back({name});
        kinds.emplace_back(name);
      }
      kinds[found->second].add(value, source);
    }
  }
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].kind = kinds[i].kind();
  return fields;
}

bool has_kinds(const std::vector<RecordField>& fields) {
  return !fields.empty() &&
         std::ranges::all_of(fields, [](const RecordField& field) { return field.kind.has_value(); });
}

}  // namespace

TableReader::TableReader(std::string name, Open open) : name_(std::move(name)), open_(std::move(open)) {
  find_kinds();
  selected_ = fields_;
  source_ = open_();
}

TableReader::TableReader(const Files& files) : TableReader(name_of(files), [files] { return open_records(files); }) {}

TableReader::~TableReader() = default;

void TableReader::find_kinds() {
  const RecordSourcePtr source = open_();
  fields_ = source->fields();
  if (has_kinds(fields_)) return;
  is_csv_ = !fields_.empty();
  std::int64_t rows = 0;
  fields_ = is_csv_ ? csv_fields(*source, rows) : json_fields(*source, rows);
  rows_ = rows;
  check(!fields_.empty(), "{} holds no records", name_);
}

Table TableReader::outline() const {
  const auto places = std::make_shared<const RecordPlaces>(name_);
  std::vector<Column> columns;
  for (const RecordField& field : fields_)
    columns.push_back(is_csv_ ? csv_column(places, field.name, *field.kind, {})
                              : json_column(places, field.name, *field.kind, {}));
  return {places, std::move(columns)};
}

const std::vector<std::string>& TableReader::class_names(const std::string& column) const {
  static const std::vector<std::string> kNone;
  const auto found = std::ranges::find(fields_, column, &RecordField::name);
  return found == fields_.end() ? kNone : found->class_names;
}

std::int64_t TableReader::rows() const {
  if (!rows_) {
    const RecordSourcePtr source = open_();
    std::int64_t count = source->rows().value_or(0);
    if (!source->rows())
      for (Json record; source->next(record);) ++count;
    rows_ = count;
  }
  return *rows_;
}

void TableReader::restart(const std::vector<std::string>& columns) {
  selected_.clear();
  for (const RecordField& field : fields_)
    if (std::ranges::find(columns, field.name) != columns.end()) selected_.push_back(field);
  source_ = open_();
  source_->select(columns);
  read_ = 0;
}

std::optional<Table> TableReader::next(std::size_t rows) {
  const auto places = std::make_shared<RecordPlaces>(name_);
  std::vector<std::vector<Json>> values(selected_.size());
  for (Json record; places->rows() < rows && source_->next(record);) {
    check_object(record, *source_);
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      const auto field = record.find(selected_[i].name);
      values[i].push_back(field == record.end() ? Json() : std::move(*field));
    }
    places->add(source_->file(), source_->number());
  }
  read_ += static_cast<std::int64_t>(places->rows());
  check(read_ > 0, "{} holds no records", name_);
  if (places->rows() == 0) return std::nullopt;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    const RecordField& field = selected_[i];
    columns.push_back(is_csv_ ? csv_column(places, field.name, *field.kind, std::move(values[i]))
                              : json_column(places, field.name, *field.kind, std::move(values[i])));
  }
  return Table(places, std::move(columns));
}

}  // namespace hearth::data
