#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hearth::tasks {

struct QaAnswer {
  static constexpr std::int64_t kNowhere = -1;

  std::string text;
  std::int64_t start = kNowhere;  // where it begins in the context, in code points; kNowhere: it does not occur there
  bool is_placed() const { return start != kNowhere; }
  bool operator==(const QaAnswer&) const = default;
};

struct QaExample {
  std::string id;                              // the record's number, from 0, if the file gives none
  std::string title;                           // may be empty
  std::shared_ptr<const std::string> context;  // shared by all questions about it
  std::string question;
  std::vector<QaAnswer> answers;  // empty: the context does not answer the question, or the answers are unknown
};

enum class QaAnswers { required, optional };  // optional: a file of questions to be answered may lack the field

// Reads questions from a file of records (records.h), or from SQuAD's original JSON of articles and paragraphs.
// docs/data.md lists the fields of a record and every accepted form. Wrong positions of answers are corrected where the
// context contains the answer; one warning counts them. Another warning names ids that several questions share. `warns`
// is false for all ranks but one, which read the same file.
std::vector<QaExample> read_qa_dataset(const std::filesystem::path& path, QaAnswers answers = QaAnswers::required,
                                       bool warns = true);

}  // namespace hearth::tasks
