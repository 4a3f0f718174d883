#include "hearth/data/qa_dataset.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "hearth/base/error.h"
#include "hearth/data/csv.h"
#include "hearth/data/qa_record.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"

namespace hearth::data {
namespace {

using io::Json;

constexpr std::string_view kSpaces = " \t\r\n";

// More than one line, and the first is an object by itself.
bool is_json_lines(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos || text.find_first_not_of(kSpaces, end) == text.npos) return false;
  try {
    return io::parse_json(text.substr(0, end), "").is_object();
  } catch (const Error&) {
    return false;
  }
}

void add_json_lines(QaRecords& records, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(kSpaces) != line.npos) records.add(io::parse_json(line, records.place()));
  }
}

const Json& field_of(const Json& object, const char* key, Json::value_t type, const std::string& place) {
  static const Json kAbsent;
  const auto found = object.is_object() ? object.find(key) : object.end();
  const Json& field = object.is_object() && found != object.end() ? *found : kAbsent;
  check(field.type() == type, "{}: field \"{}\" must be {}", place, key,
        type == Json::value_t::array ? "a list" : "a string");
  return field;
}

void add_articles(QaRecords& records, const Json& articles, std::string_view file) {
  int article_number = 0;
  for (const Json& article : articles) {
    const std::string article_place = fmt::format("{}: article {}", file, ++article_number);
    const Json& paragraphs = field_of(article, "paragraphs", Json::value_t::array, article_place);
    const Json title = article.value("title", Json(""));
    int paragraph_number = 0;
    for (const Json& paragraph : paragraphs) {
      const std::string place = fmt::format("{}, paragraph {}", article_place, ++paragraph_number);
      const Json& text = field_of(paragraph, "context", Json::value_t::string, place);
      const auto context = std::make_shared<const std::string>(text.get<std::string>());
      for (const Json& question : field_of(paragraph, "qas", Json::value_t::array, place)) {
        records.add(question, title.is_string() ? title.get<std::string>() : "", context);
      }
    }
  }
}

void add_json(QaRecords& records, std::string_view text, std::string_view file) {
  if (is_json_lines(text)) return add_json_lines(records, text);
  const Json document = io::parse_json(text, file);
  if (document.is_object() && !document.contains("data")) return records.add(document);
  const Json& data = document.is_object() ? document["data"] : document;
  check(data.is_array(), "{}: field \"data\" must be a list of records", file);
  const bool nested = !data.empty() && data.front().is_object() && data.front().contains("paragraphs");
  if (nested) return add_articles(records, data, file);
  for (const Json& record : data) records.add(record);
}

void add_csv(QaRecords& records, std::string_view text, std::string_view file) {
  CsvReader reader(text, std::string(file));
  std::vector<std::string> names, fields;
  check(reader.next(names), "{} is empty", file);
  while (reader.next(fields)) {
    check(fields.size() == names.size(), "{} has {} fields, but the header names {}", records.place(), fields.size(),
          names.size());
    Json record = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) {
      check(io::is_utf8(fields[i]), "{}: field \"{}\" is not UTF-8 text", records.place(), names[i]);
      record[names[i]] = std::move(fields[i]);
    }
    records.add(record);
  }
}

}  // namespace

std::vector<QaExample> read_qa_dataset(const std::filesystem::path& path, QaAnswers answers) {
  const std::string file = path.string(), extension = path.extension().string();
  check(extension == ".json" || extension == ".jsonl" || extension == ".csv",
        "{} should be a csv or a json file: its name must end in .csv, .json or .jsonl", file);
  const io::MappedFile contents(path);
  QaRecords records(file, answers);
  if (extension == ".csv") {
    add_csv(records, contents.text(), file);
  } else if (extension == ".jsonl") {
    add_json_lines(records, contents.text());
  } else {
    add_json(records, contents.text(), file);
  }
  return records.finish();
}

}  // namespace hearth::data
