#include "hearth/data/text_records.h"

#include "hearth/io/json.h"

namespace hearth::data {

bool TextRecords::next(io::Json& record) {
  std::string_view line;
  if (!lines_.next(line)) return false;
  record = io::Json::object();
  record["text"] = line;
  return true;
}

}  // namespace hearth::data
