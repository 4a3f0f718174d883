#include "hearth/tasks/question_answering/examples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/record_format.h"
#include "hearth/data/record_source.h"
#include "hearth/io/json.h"
#include "hearth/tasks/question_answering/record.h"

namespace hearth::tasks {
namespace {

using io::Json;

const Json& field_of(const Json& object, const char* key, Json::value_t type, const std::string& place) {
  static const Json kAbsent;
  const auto found = object.is_object() ? object.find(key) : object.end();
  const Json& field = object.is_object() && found != object.end() ? *found : kAbsent;
  check(field.type() == type, "{}: field \"{}\" must be {}", place, key,
        type == Json::value_t::array ? "a list" : "a string");
  return field;
}

// One entry of SQuAD's original form: a title and paragraphs, each a context with its questions ("qas").
void add_article(QaRecords& records, const Json& article, const std::string& place) {
  const Json& paragraphs = field_of(article, "paragraphs", Json::value_t::array, place);
  const Json title = article.value("title", Json(""));
  int number = 0;
  for (const Json& paragraph : paragraphs) {
    const std::string paragraph_place = fmt::format("{}, paragraph {}", place, ++number);
    const Json& text = field_of(paragraph, "context", Json::value_t::string, paragraph_place);
    const auto context = std::make_shared<const std::string>(text.get<std::string>());
    for (const Json& question : field_of(paragraph, "qas", Json::value_t::array, paragraph_place))
      records.add(question, title.is_string() ? title.get<std::string>() : "", context);
  }
}

constexpr std::array<const char*, 9> kFields{"id",     "title",       "question",     "context",      "answers",
                                             "answer", "answer_text", "answer_start", "is_impossible"};

// Reads no other columns of a file that has the usual ones.
void select_fields(data::RecordSource& source) {
  const auto has = [&](const char* name) {
    return std::ranges::find(source.fields(), name, &data::RecordField::name) != source.fields().end();
  };
  if (has("question") && has("context")) source.select({kFields.begin(), kFields.end()});
}

void warn_of_shared_ids(const std::vector<QaExample>& examples, const std::string& file) {
  constexpr std::size_t kIdsInWarning = 3;
  std::unordered_set<std::string_view> seen, shared;
  std::vector<std::string_view> first;
  std::int64_t repeated = 0;
  for (const QaExample& example : examples) {
    if (seen.insert(example.id).second) continue;
    ++repeated;
    if (shared.insert(example.id).second && first.size() < kIdsInWarning) first.push_back(example.id);
  }
  if (repeated > 0)
    log_warning(
        "{}: {} of {} questions have the id of an earlier question ({}{}); predictions are written by id, so each of "
        "these ids keeps the last prediction only; give every question its own id, or leave the ids out",
        file, repeated, examples.size(), fmt::join(first, ", "), shared.size() > first.size() ? ", ..." : "");
}

}  // namespace

struct QaSource::State {
  State(const data::Files& given, QaAnswers answers)
      : name(data::name_of(given)), source(data::open_records(given, "question")), records(answers) {
    select_fields(*source);
  }

  std::string name;
  data::RecordSourcePtr source;
  QaRecords records;
  std::int64_t read = 0;
  bool nested = false;
};

QaSource::QaSource(const data::Files& files, QaAnswers answers) {
  for (const std::filesystem::path& file : files)
    check(data::has_fields(file), "{} is not a file of questions: its name must end in {}", file.string(),
          data::record_endings());
  state_ = std::make_unique<State>(files, answers);
}

QaSource::~QaSource() = default;
QaSource::QaSource(QaSource&&) noexcept = default;

std::optional<std::int64_t> QaSource::size() const { return state_->source->rows(); }

std::optional<std::vector<QaExample>> QaSource::next() {
  constexpr std::size_t kQuestionsPerPart = 4096;
  State& state = *state_;
  for (Json record; state.records.size() < kQuestionsPerPart && state.source->next(record);) {
    if (state.read++ == 0) state.nested = record.is_object() && record.contains("paragraphs");
    state.records.begin_file(state.source->file());
    if (state.nested) {
      add_article(state.records, record, fmt::format("{}: article {}", state.source->file(), state.source->number()));
    } else {
      state.records.add(record);
    }
  }
  check(state.records.total() > 0, "{} holds no questions", state.name);
  if (state.records.size() == 0) return std::nullopt;
  return state.records.take();
}

void QaSource::warn() const { state_->records.warn(state_->name); }

std::vector<QaExample> read_qa_dataset(const data::Files& files, QaAnswers answers, bool warns) {
  QaSource source(files, answers);
  std::vector<QaExample> examples;
  while (std::optional<std::vector<QaExample>> part = source.next())
    std::ranges::move(*part, std::back_inserter(examples));
  if (warns) {
    source.warn();
    warn_of_shared_ids(examples, data::name_of(files));
  }
  return examples;
}

std::vector<QaExample> read_qa_dataset(const std::filesystem::path& file, QaAnswers answers, bool warns) {
  return read_qa_dataset(data::Files{file}, answers, warns);
}

}  // namespace hearth::tasks
