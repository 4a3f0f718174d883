#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/tasks/question_answering/answer_places.h"
#include "hearth/tasks/question_answering/examples.h"

namespace hearth::tasks {

// Turns the records of files into examples. A record that cannot be read is an Error that names the file, the record
// (counted from 1) and the field.
class QaRecords {
 public:
  explicit QaRecords(QaAnswers answers) : answers_(answers) {}

  void begin_file(const std::string& file);  // that the next records come from; it may be the same as before
  // A record with all fields, named as those of the first one.
  void add(const io::Json& record);
  // A question of SQuAD's original form.
  void add(const io::Json& question, std::string title, std::shared_ptr<const std::string> context);

  std::size_t size() const { return examples_.size(); }             // of the examples that take() gives
  std::int64_t total() const { return total_; }                     // all that were ever added
  std::vector<QaExample> take();                                    // those since the last call
  void warn(const std::string& name) const { places_.warn(name); }  // of misplaced answers

 private:
  struct Columns {
    std::string question = "question", context = "context", answers = "answers";
    bool one_answer = false;  // `answers` names a column with the text of one answer, not with a structure
  };

  void begin(const io::Json& record);
  void add_question(const io::Json& question, std::string title, std::shared_ptr<const std::string> context);
  void choose_columns(const io::Json& record);
  std::shared_ptr<const std::string> shared_context(std::string text);
  std::string needed_string(const io::Json& record, const std::string& column) const;
  std::vector<QaAnswer> answers_of(const io::Json& record);
  void check_may_lack_answers(const io::Json& record) const;
  std::vector<QaAnswer> answers_from(const std::string& text, const io::Json* starts);
  std::vector<QaAnswer> answers_from(const io::Json& answers);
  std::vector<QaAnswer> answers_from(const io::Json* texts, const io::Json* starts);
  void add_answer(const io::Json& text, const io::Json* start, std::vector<QaAnswer>& answers);
  std::optional<std::int64_t> start_from(const io::Json* start) const;
  [[noreturn]] void missing(const std::string& column, const io::Json& record) const;
  [[noreturn]] void broken(std::string_view field, std::string_view what) const;

  std::string file_;
  std::int64_t number_ = 0;  // of the record in the file
  std::int64_t total_ = 0;
  QaAnswers answers_;
  Columns columns_;
  std::string given_id_;  // of the record being read; empty if it has none
  QaExample example_;     // the one being read
  std::unordered_map<std::string_view, std::shared_ptr<const std::string>> contexts_;
  std::vector<QaExample> examples_;
  AnswerPlaces places_;
};

}  // namespace hearth::tasks
