#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/files.h"

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

// Questions from files of records (data/record_source.h), or from SQuAD's original JSON of articles and paragraphs,
// read part by part. docs/data.md lists the fields of a record and every accepted form. Wrong positions of answers are
// corrected where the context contains the answer.
class QaSource {
 public:
  QaSource(const data::Files& files, QaAnswers answers);
  ~QaSource();
  QaSource(QaSource&&) noexcept;
  QaSource& operator=(QaSource&&) = delete;

  std::optional<std::int64_t> size() const;  // of all questions, where the format says it
  // The next questions; nothing at the end. Files without questions are an Error.
  std::optional<std::vector<QaExample>> next();
  void warn() const;  // one warning with the numbers of corrected positions so far, if there are some

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads all questions of the files, with a warning of corrected positions and one of ids that several questions share.
// `warns` is false for all ranks but one, which read the same file.
std::vector<QaExample> read_qa_dataset(const data::Files& files, QaAnswers answers = QaAnswers::required,
                                       bool warns = true);
std::vector<QaExample> read_qa_dataset(const std::filesystem::path& file, QaAnswers answers = QaAnswers::required,
                                       bool warns = true);

}  // namespace hearth::tasks
