#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hearth::data {

struct QaAnswer {
  std::string text;
  std::int64_t start = 0;  // where it begins in the context, in code points
  bool operator==(const QaAnswer&) const = default;
};

struct QaExample {
  std::string id;                              // the record's number, from 0, where the file gives none
  std::string title;                           // may be empty
  std::shared_ptr<const std::string> context;  // one for all questions on it
  std::string question;
  std::vector<QaAnswer> answers;  // none: the question cannot be answered, or the answers are unknown
};

enum class QaAnswers { required, optional };  // optional: a file of questions to be answered may lack the field

// Reads questions from a file that ends in
// - json: SQuAD's original articles and paragraphs, {"data": [record, ...]}, [record, ...] or JSON lines;
// - jsonl: JSON lines, one record each;
// - csv: a header, then a record a row, its answers as Python or JSON prints them.
// A record has question, context, answers ({"text": [...], "answer_start": [...]} or a list of {"text",
// "answer_start"}) and may have id, title and is_impossible; without these names the first three columns are question,
// context, answers. Answers that do not stand at their place in the context are counted and reported in a warning.
std::vector<QaExample> read_qa_dataset(const std::filesystem::path& path, QaAnswers answers = QaAnswers::required);

}  // namespace hearth::data
