#pragma once

#include "hearth/data/record_source.h"
#include "hearth/data/text_lines.h"

namespace hearth::data {

// The lines of a text file, each as a record with the field "text".
class TextRecords final : public RecordSource {
 public:
  explicit TextRecords(const std::filesystem::path& file) : lines_(io::TextBuffer(file)) {}

  bool next(io::Json& record) override;
  const std::string& file() const override { return lines_.name(); }
  std::int64_t number() const override { return lines_.number(); }
  const std::vector<RecordField>& fields() const override { return fields_; }

 private:
  TextLines lines_;
  std::vector<RecordField> fields_{{"text", ColumnKind::text, "text"}};
};

}  // namespace hearth::data
