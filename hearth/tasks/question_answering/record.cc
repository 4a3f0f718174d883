#include "hearth/tasks/question_answering/record.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/csv_records.h"
#include "hearth/data/python_literal.h"
#include "hearth/io/json.h"

namespace hearth::tasks {
namespace {

using io::Json;

// Null counts as absent.
const Json* find(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool is_impossible(const Json& record) {
  const Json* mark = find(record, "is_impossible");
  return mark != nullptr && (*mark == true || *mark == "True" || *mark == "true");
}

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

bool is_blank(const Json& value) { return value.is_string() && stripped(value.get_ref<const std::string&>()).empty(); }

// Answers with their positions, in JSON or as text in a table.
bool is_structure(const Json& value) {
  if (!value.is_string()) return value.is_structured();
  const std::string_view text = stripped(value.get_ref<const std::string&>());
  return text.starts_with('{') || text.starts_with('[');
}

// 14, 14.0 and, from tables, "14" and "14.0": pandas makes a column with gaps floating-point.
std::optional<std::int64_t> whole_number(const Json& value) {
  double number = std::nan("");
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const char* const end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, number); read.ec != std::errc{} || read.ptr != end)
      return {};
  }
  constexpr double kLargest = 1e15;
  if (!(std::abs(number) <= kLargest) || number != std::floor(number)) return {};
  return static_cast<std::int64_t>(number);
}

}  // namespace

void QaRecords::add(const Json& record) {
  begin(record);
  if (total_ == 0) choose_columns(record);
  auto context = shared_context(needed_string(record, columns_.context));
  const Json* title = find(record, "title");
  add_question(record, title != nullptr && title->is_string() ? title->get<std::string>() : "", std::move(context));
}

void QaRecords::add(const Json& question, std::string title, std::shared_ptr<const std::string> context) {
  begin(question);
  add_question(question, std::move(title), std::move(context));
}

void QaRecords::add_question(const Json& question, std::string title, std::shared_ptr<const std::string> context) {
  example_.title = std::move(title);
  example_.context = std::move(context);
  example_.question = needed_string(question, columns_.question);
  example_.id = given_id_.empty() ? fmt::format("{}", total_) : given_id_;
  example_.answers = answers_of(question);
  examples_.push_back(std::move(example_));
  ++total_;
}

std::vector<QaExample> QaRecords::take() {
  contexts_.clear();
  return std::exchange(examples_, {});
}

void QaRecords::begin_file(const std::string& file) {
  if (file == file_) return;
  file_ = file;
  number_ = 0;
}

void QaRecords::missing(const std::string& column, const Json& record) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : record.items()) names.push_back(name);
  broken(column,
         fmt::format("is missing: found {}; wanted are question, context and one of answers, answer (looked up in "
                     "the context) and answer_text (with answer_start)",
                     fmt::join(names, ", ")));
}

void QaRecords::broken(std::string_view field, std::string_view what) const {
  fail("{}: record {}{}: field \"{}\" {}", file_, number_, given_id_.empty() ? "" : fmt::format(" (id {})", given_id_),
       field, what);
}

void QaRecords::begin(const Json& record) {
  example_ = {};
  given_id_.clear();
  ++number_;
  check(record.is_object(), "{}: record {} must be an object with named fields, such as question and context", file_,
        number_);
  const Json* id = find(record, "id");
  if (id == nullptr) return;
  if (!id->is_string() && !id->is_number_integer())
    broken("id", "must be a string or a whole number; without the field the record's number is the id");
  given_id_ = id->is_string() ? id->get<std::string>() : io::dump_json(*id, io::kOneLine);
}

// As run_qa.py: where a name is missing, the column at its place is taken, unless it has a meaning of its own. A third
// column of plain texts may hold anything: it is not taken for answers.
void QaRecords::choose_columns(const Json& record) {
  for (const char* name : {"answer", "answer_text"})
    if (!record.contains(columns_.answers) && record.contains(name)) columns_.answers = name;
  columns_.one_answer = columns_.answers != "answers";
  std::array<std::string*, 3> columns{&columns_.question, &columns_.context, &columns_.answers};
  std::size_t place = 0;
  for (const auto& [name, value] : record.items()) {
    if (data::is_unnamed(name)) continue;  // the index that pandas' to_csv writes
    if (place == columns.size()) break;
    std::string& column = *columns[place++];
    constexpr std::array<std::string_view, 9> kKnown{"id",     "title",       "question",     "context",      "answers",
                                                     "answer", "answer_text", "answer_start", "is_impossible"};
    if (record.contains(column) || std::ranges::find(kKnown, name) != kKnown.end()) continue;
    if (&column != &columns_.answers || is_structure(value)) column = name;
  }
}

std::shared_ptr<const std::string> QaRecords::shared_context(std::string text) {
  auto found = contexts_.find(text);
  if (found == contexts_.end()) {
    auto context = std::make_shared<const std::string>(std::move(text));
    found = contexts_.emplace(*context, context).first;
  }
  return found->second;
}

std::string QaRecords::needed_string(const Json& record, const std::string& column) const {
  const Json* value = find(record, column);
  if (value == nullptr && record.contains(column)) broken(column, "is empty; it must be a string");
  if (value == nullptr) missing(column, record);
  if (!value->is_string()) broken(column, "must be a string");
  return value->get<std::string>();
}

std::vector<QaAnswer> QaRecords::answers_of(const Json& record) {
  const Json* answers = find(record, columns_.answers);
  if (answers == nullptr || is_blank(*answers)) {
    check_may_lack_answers(record);
    return {};
  }
  const Json* starts = find(record, "answer_start");
  if (starts != nullptr && is_blank(*starts)) starts = nullptr;
  if (answers->is_string()) return answers_from(answers->get_ref<const std::string&>(), starts);
  if (columns_.one_answer && starts != nullptr) return answers_from(answers, starts);
  return answers_from(*answers);
}

void QaRecords::check_may_lack_answers(const Json& record) const {
  const bool has_column = record.contains(columns_.answers);
  if (answers_ == QaAnswers::optional || is_impossible(record) || (columns_.one_answer && has_column)) return;
  if (!has_column) missing(columns_.answers, record);
  broken(columns_.answers, R"(is empty; a question without an answer needs {"text": [], "answer_start": []})");
}

std::vector<QaAnswer> QaRecords::answers_from(const std::string& text, const Json* starts) {
  const std::string_view trimmed = stripped(text);
  if (!is_structure(text) || (columns_.one_answer && trimmed.starts_with('['))) {
    const Json answer =
        starts == nullptr ? std::string(trimmed) : text;  // an answer to look up has no spaces around it
    return answers_from(&answer, starts);
  }
  Json parsed;
  try {
    parsed = data::parse_python_literal(trimmed, "the value");
  } catch (const Error& error) {
    broken(columns_.answers, fmt::format("cannot be read: {}", error.what()));
  }
  return answers_from(parsed);
}

std::vector<QaAnswer> QaRecords::answers_from(const Json& answers) {
  if (answers.is_object()) return answers_from(find(answers, "text"), find(answers, "answer_start"));
  if (!answers.is_array())
    broken(columns_.answers, R"(must be {"text": [...], "answer_start": [...]}, a list of such answers, or a text)");
  std::vector<QaAnswer> result;
  for (const Json& answer : answers) {
    if (!answer.is_object() && !answer.is_string())
      broken(columns_.answers, R"(must hold texts, or objects with "text" and "answer_start")");
    const auto one = answer.is_string() ? answers_from(&answer, nullptr)
                                        : answers_from(find(answer, "text"), find(answer, "answer_start"));
    result.insert(result.end(), one.begin(), one.end());
  }
  return result;
}

// One text and its start, or a list of each; answers without starts are looked up in the context.
std::vector<QaAnswer> QaRecords::answers_from(const Json* texts, const Json* starts) {
  std::vector<QaAnswer> result;
  if (texts != nullptr && texts->is_string()) {
    add_answer(*texts, starts, result);
    return result;
  }
  if (texts == nullptr || !texts->is_array()) broken(columns_.answers + ".text", "must be a list of strings");
  if (starts != nullptr && !starts->is_array()) broken(columns_.answers + ".answer_start", "must be a list of numbers");
  if (starts != nullptr && texts->size() != starts->size())
    broken(columns_.answers, fmt::format("has {} texts but {} starts", texts->size(), starts->size()));
  for (std::size_t i = 0; i < texts->size(); ++i)
    add_answer((*texts)[i], starts == nullptr ? nullptr : &(*starts)[i], result);
  return result;
}

// A blank text is no answer.
void QaRecords::add_answer(const Json& text, const Json* start, std::vector<QaAnswer>& answers) {
  if (!text.is_string()) broken(columns_.answers + ".text", "must be a string");
  auto words = text.get<std::string>();
  const std::optional<std::int64_t> given = start_from(start);
  if (stripped(words).empty()) return;
  const std::int64_t place = places_.find(words, given, *example_.context, example_.id);
  answers.push_back({std::move(words), place});
}

std::optional<std::int64_t> QaRecords::start_from(const Json* start) const {
  if (start == nullptr || start->is_null()) return std::nullopt;
  const std::optional<std::int64_t> number = whole_number(*start);
  if (!number)
    broken(columns_.one_answer ? "answer_start" : columns_.answers + ".answer_start",
           "must be a whole number, the answer's first character in the context, counted from 0; without the field the "
           "answer is looked up in the context");
  return number;
}

}  // namespace hearth::tasks
