#include "hearth/tasks/question_answering/examples.h"

#include <optional>
#include <string_view>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/records.h"
#include "hearth/io/file.h"
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

}  // namespace

std::vector<QaExample> read_qa_dataset(const std::filesystem::path& path, QaAnswers answers, bool warns) {
  const std::string file = path.string();
  const std::optional<data::RecordFormat> format = data::record_format_of(path);
  check(format.has_value(), "{} is not a file of questions: its name must end in {}", file, data::record_endings());
  const io::MappedFile contents(path);
  QaRecords records(file, answers);
  int number = 0;
  bool nested = false;
  data::read_records(contents.text(), *format, "question", file, [&](const Json& record) {
    if (number++ == 0) nested = record.is_object() && record.contains("paragraphs");
    if (nested) return add_article(records, record, fmt::format("{}: article {}", file, number));
    records.add(record);
  });
  return records.finish(warns);
}

}  // namespace hearth::tasks
