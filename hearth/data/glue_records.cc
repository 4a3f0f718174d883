#include "hearth/data/glue_records.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using io::Json;
using Fields = std::vector<std::string>;

constexpr double kHighestScore = 5;
constexpr std::string_view kOtherFile = "give the .tsv file of this task that GLUE distributes";
constexpr std::string_view kTestFile = "test files have no labels, so give the train or dev file";

Fields fields_of(std::string_view line) {
  Fields fields;
  for (std::size_t tab; (tab = line.find('\t')) != line.npos; line.remove_prefix(tab + 1))
    fields.emplace_back(line.substr(0, tab));
  fields.emplace_back(line);
  return fields;
}

template <class Number>
std::optional<Number> number_in(std::string_view field) {
  Number number{};
  const char* const end = field.data() + field.size();
  const auto read = std::from_chars(field.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

// A .tsv file of GLUE as records of strings; number() counts lines.
class GlueTsv final : public RecordSource {
 public:
  GlueTsv(const std::filesystem::path& file, const GlueTask& task, std::shared_ptr<GlueLeftOut> left_out)
      : lines_(io::TextBuffer(file)), task_(task), left_out_(std::move(left_out)) {
    std::string_view line;
    check(lines_.next(line), "{} is empty; {}", lines_.name(), kOtherFile);
    const Fields first = fields_of(line), cola{"source", "label", "mark", "sentence"};
    const bool has_header = task.name != "cola" || first.size() != cola.size();
    for (const std::string& name : has_header ? first : cola) fields_.push_back({name});
    if (!has_header) first_row_ = first;
  }

  bool next(Json& record) override {
    if (first_row_) return take(*std::exchange(first_row_, std::nullopt), record);
    for (std::string_view line; lines_.next(line);)
      if (!line.empty() && take(fields_of(line), record)) return true;
    return false;
  }
  const std::string& file() const override { return lines_.name(); }
  std::int64_t number() const override { return lines_.number(); }
  const std::vector<RecordField>& fields() const override { return fields_; }

 private:
  bool take(Fields fields, Json& record) {
    if (task_.name == "qqp" && fields.size() < fields_.size()) {
      ++left_out_->cut_rows;
      return false;
    }
    check(fields.size() == fields_.size(), "{}: line {} has {} fields, but {} are needed: {}; fields end at tabs",
          file(), number(), fields.size(), fields_.size(), fmt::join(names(), ", "));
    record = Json::object();
    for (std::size_t i = 0; i < fields.size(); ++i) record[fields_[i].name] = std::move(fields[i]);
    return true;
  }
  Fields names() const {
    Fields names;
    for (const RecordField& field : fields_) names.push_back(field.name);
    return names;
  }

  TextLines lines_;
  const GlueTask& task_;
  std::shared_ptr<GlueLeftOut> left_out_;
  std::optional<Fields> first_row_;
  std::vector<RecordField> fields_;
};

// The fields of a task from records that have them, perhaps under other names.
class GlueRecords final : public RecordSource {
 public:
  GlueRecords(RecordSourcePtr source, const GlueTask& task, GlueLabels labels, bool is_tsv,
              std::shared_ptr<GlueLeftOut> left_out)
      : source_(std::move(source)),
        task_(task),
        columns_(is_tsv ? task.file_columns : task.columns),
        place_(is_tsv ? "line" : "record"),
        left_out_(std::move(left_out)),
        labels_(labels) {
    if (source_->fields().empty()) {
      has_record_ = source_->next(record_);  // JSON: the first record tells the fields
      check(has_record_ && record_.is_object(), "{} holds no records with named fields", source_->file());
    }
    check_column(columns_.a, kOtherFile);
    if (task.has_pairs()) check_column(columns_.b, kOtherFile);
    if (labels == GlueLabels::required) check_column(columns_.label, kTestFile);
    if (labels == GlueLabels::optional && !has_column(columns_.label)) labels_ = GlueLabels::ignored;
    fields_.push_back({task.columns.a, ColumnKind::text, "text"});
    if (task.has_pairs()) fields_.push_back({task.columns.b, ColumnKind::text, "text"});
    if (!has_labels()) return;
    if (task.is_regression())
      fields_.push_back({task.columns.label, ColumnKind::number, "score"});
    else
      fields_.push_back({task.columns.label, ColumnKind::integer, "label", task.labels});
  }

  bool next(Json& record) override {
    for (;;) {
      if (!std::exchange(has_record_, false) && !source_->next(record_)) return false;
      check(record_.is_object(), "{} must be an object with named fields", place());
      if (!has_labels() || task_.name != "mnli" || field(columns_.label) != "-") break;
      ++left_out_->undecided_rows;
    }
    record = Json::object();
    record[task_.columns.a] = text(columns_.a);
    if (task_.has_pairs()) record[task_.columns.b] = text(columns_.b);
    if (has_labels()) record[task_.columns.label] = task_.is_regression() ? Json(score()) : Json(label());
    return true;
  }
  const std::string& file() const override { return source_->file(); }
  std::int64_t number() const override { return source_->number(); }
  const std::vector<RecordField>& fields() const override { return fields_; }
  std::optional<std::int64_t> rows() const override {
    return task_.name == "mnli" ? std::nullopt : source_->rows();  // MNLI leaves some out
  }

 private:
  bool has_labels() const { return labels_ != GlueLabels::ignored; }
  std::string place() const { return fmt::format("{}: {} {}", file(), place_, number()); }

  Fields names() const {
    Fields names;
    for (const RecordField& field : source_->fields()) names.push_back(field.name);
    if (names.empty())
      for (const auto& [name, value] : record_.items()) names.push_back(name);
    return names;
  }
  bool has_column(const std::string& name) const {
    const Fields all = names();
    return std::ranges::find(all, name) != all.end();
  }
  void check_column(const std::string& name, std::string_view way_out) const {
    check(has_column(name), "{}: {} needs a column \"{}\", but the file has {}; {}", file(), task_.name, name,
          fmt::join(names(), ", "), way_out);
  }

  const Json& field(const std::string& name) const {
    static const Json kNull;
    const auto found = record_.find(name);
    return found == record_.end() ? kNull : *found;
  }
  Json text(const std::string& column) {
    const Json& value = field(column);
    if (value.is_null()) return "";
    check(value.is_string(), "{}: the column \"{}\" must hold texts", place(), column);
    return std::move(record_[column]);
  }

  double score() const {
    const Json& value = field(columns_.label);
    std::optional<double> number;
    if (value.is_number()) number = value.get<double>();
    if (value.is_string()) number = number_in<double>(value.get_ref<const std::string&>());
    check(number && *number >= 0 && *number <= kHighestScore,
          "{}: the score of {} must be a number from 0 to {}, not {}; correct it, or leave it out", place(), task_.name,
          kHighestScore, io::excerpt(value));
    return *number;
  }
  std::int64_t label() const {
    const Json& value = field(columns_.label);
    const auto count = std::ssize(task_.labels);
    std::optional<std::int64_t> id;
    if (value.is_number_integer()) id = value.get<std::int64_t>();
    if (value.is_string()) {
      const auto& name = value.get_ref<const std::string&>();
      id = number_in<std::int64_t>(name).value_or(std::ranges::find(task_.labels, name) - task_.labels.begin());
    }
    check(id && *id >= 0 && *id < count, "{}: {} is not a label of {}; its labels are {}, or the numbers 0 to {}",
          place(), io::excerpt(value), task_.name, fmt::join(task_.labels, ", "), count - 1);
    return *id;
  }

  RecordSourcePtr source_;
  const GlueTask& task_;
  const GlueColumns& columns_;
  std::string_view place_;
  std::shared_ptr<GlueLeftOut> left_out_;
  GlueLabels labels_;
  Json record_;
  bool has_record_ = false;  // record_ is the next one
  std::vector<RecordField> fields_;
};

}  // namespace

RecordSourcePtr open_glue(const Files& files, const GlueTask& task, GlueLabels labels,
                          std::shared_ptr<GlueLeftOut> left_out) {
  *left_out = {};
  return records_in_turn(files, [=, &task](const std::filesystem::path& file) -> RecordSourcePtr {
    const bool is_tsv = record_format_of(file) == RecordFormat::tsv;
    RecordSourcePtr source =
        is_tsv ? std::make_unique<GlueTsv>(file, task, left_out) : open_records({file}, task.columns.a);
    return std::make_unique<GlueRecords>(std::move(source), task, labels, is_tsv, left_out);
  });
}

GlueRows read_glue(const std::filesystem::path& file, const GlueTask& task, GlueLabels labels) {
  const auto left_out = std::make_shared<GlueLeftOut>();
  const RecordSourcePtr source = open_glue({file}, task, labels, left_out);
  const bool has_labels =
      std::ranges::find(source->fields(), task.columns.label, &RecordField::name) != source->fields().end();
  GlueRows rows;
  for (Json record; source->next(record);) {
    rows.a.push_back(std::move(record[task.columns.a].get_ref<std::string&>()));
    if (task.has_pairs()) rows.b.push_back(std::move(record[task.columns.b].get_ref<std::string&>()));
    if (has_labels && task.is_regression()) rows.scores.push_back(record[task.columns.label].get<double>());
    if (has_labels && !task.is_regression()) rows.labels.push_back(record[task.columns.label].get<std::int64_t>());
  }
  check(rows.size() > 0, "{} holds no rows that can be used", file.string());
  rows.cut_rows = left_out->cut_rows;
  rows.undecided_rows = left_out->undecided_rows;
  return rows;
}

}  // namespace hearth::data
