#include "hearth/data/qa_record.h"

#include <array>
#include <utility>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/data/python_literal.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/text.h"

namespace hearth::data {
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

}  // namespace

void QaRecords::add(const Json& record) {
  begin(record);
  if (examples_.empty()) choose_columns(record);
  auto context = shared_context(needed_string(record, columns_.context));
  std::string title = title_of(record);
  add(record, std::move(title), std::move(context));
}

void QaRecords::add(const Json& question, std::string title, std::shared_ptr<const std::string> context) {
  begin(question);
  QaExample example;
  example.id = id_.empty() ? fmt::format("{}", examples_.size()) : id_;
  example.title = std::move(title);
  example.context = std::move(context);
  example.question = needed_string(question, columns_.question);
  example.answers = answers_of(question);
  count_misplaced(example);
  examples_.push_back(std::move(example));
}

std::vector<QaExample> QaRecords::finish() {
  check(!examples_.empty(), "{} holds no questions", file_);
  if (misplaced_ > 0) {
    log_warning("{}: {} of {} answers do not stand at their answer_start in the context; the first is that of {}",
                file_, misplaced_, answer_count_, first_misplaced_);
  }
  return std::move(examples_);
}

std::string QaRecords::place() const { return fmt::format("{}: record {}", file_, examples_.size() + 1); }

void QaRecords::broken(std::string_view field, std::string_view what) const {
  fail("{}{}: field \"{}\" {}", place(), id_.empty() ? "" : fmt::format(" (id {})", id_), field, what);
}

void QaRecords::begin(const Json& record) {
  id_.clear();
  if (!record.is_object()) fail("{} must be an object with named fields", place());
  const Json* id = find(record, "id");
  if (id == nullptr) return;
  if (!id->is_string() && !id->is_number_integer()) broken("id", "must be a string");
  id_ = id->is_string() ? id->get<std::string>() : io::dump_json(*id, io::kOneLine);
}

// Where a name is missing, the column at its place stands in for it, unless that one has a meaning of its own.
void QaRecords::choose_columns(const Json& record) {
  std::array<std::string*, 3> columns{&columns_.question, &columns_.context, &columns_.answers};
  std::size_t place = 0;
  for (const auto& [name, value] : record.items()) {
    if (place == columns.size()) break;
    std::string& column = *columns[place++];
    const bool known = name == "id" || name == "title" || name == "question" || name == "context" ||
                       name == "answers" || name == "is_impossible";
    if (!record.contains(column) && !known) column = name;
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
  if (value == nullptr) broken(column, "is missing");
  if (!value->is_string()) broken(column, "must be a string");
  return value->get<std::string>();
}

std::string QaRecords::title_of(const Json& record) const {
  const Json* title = find(record, "title");
  if (title == nullptr) return "";
  if (!title->is_string()) broken("title", "must be a string");
  return title->get<std::string>();
}

std::vector<QaAnswer> QaRecords::answers_of(const Json& record) const {
  if (is_impossible(record)) return {};
  const Json* answers = find(record, columns_.answers);
  if (answers == nullptr || *answers == "") {
    if (answers_ == QaAnswers::optional) return {};
    broken(columns_.answers, "is missing; a question that has no answer needs empty lists");
  }
  if (!answers->is_string()) return answers_from(*answers);
  Json parsed;
  try {
    parsed = parse_python_literal(answers->get_ref<const std::string&>(), "the value");
  } catch (const Error& error) {
    broken(columns_.answers, fmt::format("cannot be read: {}", error.what()));
  }
  return answers_from(parsed);
}

std::vector<QaAnswer> QaRecords::answers_from(const Json& answers) const {
  std::vector<QaAnswer> result;
  if (answers.is_array()) {
    for (const Json& answer : answers) {
      if (!answer.is_object()) broken(columns_.answers, "must hold objects with \"text\" and \"answer_start\"");
      result.push_back(answer_from(find(answer, "text"), find(answer, "answer_start")));
    }
    return result;
  }
  if (!answers.is_object()) broken(columns_.answers, R"(must be {"text": [...], "answer_start": [...]})");
  const Json *texts = find(answers, "text"), *starts = find(answers, "answer_start");
  if (texts == nullptr || !texts->is_array()) broken(columns_.answers + ".text", "must be a list of strings");
  if (starts == nullptr || !starts->is_array()) broken(columns_.answers + ".answer_start", "must be a list of numbers");
  if (texts->size() != starts->size()) {
    broken(columns_.answers, fmt::format("has {} texts but {} starts", texts->size(), starts->size()));
  }
  for (std::size_t i = 0; i < texts->size(); ++i) result.push_back(answer_from(&(*texts)[i], &(*starts)[i]));
  return result;
}

QaAnswer QaRecords::answer_from(const Json* text, const Json* start) const {
  if (text == nullptr || !text->is_string()) broken(columns_.answers + ".text", "must be a string");
  if (start == nullptr || !start->is_number_integer()) broken(columns_.answers + ".answer_start", "must be an integer");
  return {text->get<std::string>(), start->get<std::int64_t>()};
}

void QaRecords::count_misplaced(const QaExample& example) {
  for (const auto& [text, start] : example.answers) {
    ++answer_count_;
    if (start >= 0 && tokenizer::python::suffix(*example.context, start).starts_with(text)) continue;
    if (misplaced_++ == 0) first_misplaced_ = example.id;
  }
}

}  // namespace hearth::data
