#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/data/qa_dataset.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// Turns the records of one file into examples. What is wrong with a record is an Error that names file, record and
// field; records are numbered from 1.
class QaRecords {
 public:
  QaRecords(std::string file, QaAnswers answers) : file_(std::move(file)), answers_(answers) {}

  // A record with all fields, named as those of the first one.
  void add(const io::Json& record);
  // A question of SQuAD's original form.
  void add(const io::Json& question, std::string title, std::shared_ptr<const std::string> context);
  std::vector<QaExample> finish();  // reports misplaced answers

  std::string place() const;  // of the next record, for errors: the file and the record's number
  [[noreturn]] void broken(std::string_view field, std::string_view what) const;

 private:
  struct Columns {
    std::string question = "question", context = "context", answers = "answers";
  };

  void choose_columns(const io::Json& record);
  void begin(const io::Json& record);
  std::shared_ptr<const std::string> shared_context(std::string text);
  std::string needed_string(const io::Json& record, const std::string& column) const;
  std::string title_of(const io::Json& record) const;
  std::vector<QaAnswer> answers_of(const io::Json& record) const;
  std::vector<QaAnswer> answers_from(const io::Json& answers) const;
  QaAnswer answer_from(const io::Json* text, const io::Json* start) const;
  void count_misplaced(const QaExample& example);

  std::string file_;
  QaAnswers answers_;
  Columns columns_;
  std::string id_;  // of the record being read, where it has one
  std::unordered_map<std::string_view, std::shared_ptr<const std::string>> contexts_;
  std::vector<QaExample> examples_;
  std::int64_t answer_count_ = 0, misplaced_ = 0;
  std::string first_misplaced_;
};

}  // namespace hearth::data
