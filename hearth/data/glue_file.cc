#include "hearth/data/glue_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/file.h"

namespace hearth::data {
namespace {

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

class GlueReader {
 public:
  GlueReader(std::string_view text, std::string file, const GlueTask& task, GlueLabels labels)
      : lines_(text, file), file_(std::move(file)), task_(task), labels_(labels) {}

  GlueRows read() {
    std::string_view line;
    check(lines_.next(line), "{} is empty; {}", file_, kOtherFile);
    Fields fields = fields_of(line);
    find_columns(fields);
    if (!has_header_) add(fields);
    while (lines_.next(line))
      if (!line.empty()) add(fields = fields_of(line));
    check(rows_.size() > 0, "{} holds no rows that can be used", file_);
    return std::move(rows_);
  }

 private:
  void find_columns(const Fields& first) {
    const Fields cola{"source", "label", "mark", "sentence"};
    has_header_ = task_.name != "cola" || first.size() != cola.size();
    header_ = has_header_ ? first : cola;
    const auto& [a, b, label] = task_.file_columns;
    a_ = column(a, kOtherFile);
    if (task_.has_pairs()) b_ = column(b, kOtherFile);
    const bool has_labels = labels_ == GlueLabels::optional && std::ranges::count(header_, label) > 0;
    if (labels_ == GlueLabels::required || has_labels) label_ = column(label, kTestFile);
  }

  std::size_t column(const std::string& name, std::string_view way_out) const {
    const auto found = std::ranges::find(header_, name);
    check(found != header_.end(), "{}: line 1: {} needs a column \"{}\", but the header names {}; {}", file_,
          task_.name, name, fmt::join(header_, ", "), way_out);
    return static_cast<std::size_t>(found - header_.begin());
  }

  void add(Fields& fields) {
    if (task_.name == "qqp" && fields.size() < header_.size()) {
      ++rows_.cut_rows;
      return;
    }
    check(fields.size() == header_.size(), "{}: line {} has {} fields, but {} are needed: {}; fields end at tabs",
          file_, lines_.number(), fields.size(), header_.size(), fmt::join(header_, ", "));
    if (label_ && task_.name == "mnli" && fields[*label_] == "-") {
      ++rows_.undecided_rows;
      return;
    }
    if (label_) add_label(fields[*label_]);
    rows_.a.push_back(std::move(fields[a_]));
    if (b_) rows_.b.push_back(std::move(fields[*b_]));
  }

  void add_label(const std::string& field) {
    if (task_.is_regression()) {
      rows_.scores.push_back(score(field));
    } else {
      rows_.labels.push_back(label(field));
    }
  }

  double score(const std::string& field) const {
    const std::optional<double> number = number_in<double>(field);
    check(number && *number >= 0 && *number <= kHighestScore,
          "{}: line {}: the score of {} must be a number from 0 to {}, not \"{}\"; correct it, or leave the line out",
          file_, lines_.number(), task_.name, kHighestScore, field);
    return *number;
  }

  std::int64_t label(const std::string& field) const {
    const auto count = static_cast<std::int64_t>(task_.labels.size());
    if (const auto id = number_in<std::int64_t>(field); id && *id >= 0 && *id < count) return *id;
    const std::int64_t place = std::ranges::find(task_.labels, field) - task_.labels.begin();
    check(place < count, "{}: line {}: \"{}\" is not a label of {}; its labels are {}, or the numbers 0 to {}", file_,
          lines_.number(), field, task_.name, fmt::join(task_.labels, ", "), count - 1);
    return place;
  }

  TextLines lines_;
  std::string file_;
  const GlueTask& task_;
  GlueLabels labels_;
  bool has_header_ = true;
  Fields header_;
  std::size_t a_ = 0;
  std::optional<std::size_t> b_, label_;
  GlueRows rows_;
};

}  // namespace

GlueRows read_glue_file(const std::filesystem::path& path, const GlueTask& task, GlueLabels labels) {
  const io::MappedFile contents(path);
  return GlueReader(contents.text(), path.string(), task, labels).read();
}

}  // namespace hearth::data
