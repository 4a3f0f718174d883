#include "hearth/report/json_lines.h"

#include <sstream>

#include "hearth/base/error.h"
#include "hearth/io/file.h"

namespace hearth::report {
namespace {

// False also for a line that a killed run left half written.
bool is_row_until(const std::string& line, std::int64_t step) try {
  const io::Json row = io::parse_json_strict(line, kLogFile);
  return row.is_object() && io::get_int(row, "step", kLogFile) <= step;
} catch (const Error&) {
  return false;
}

std::string rows_until(const std::filesystem::path& file, std::int64_t step) {
  if (step == 0 || !std::filesystem::exists(file)) return "";
  std::istringstream lines(io::read_file(file));
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (is_row_until(line, step)) kept += line + "\n";
  return kept;
}

}  // namespace

void JsonLines::begin(const TrainingProgress& progress) {
  io::create_directories(path_.parent_path());
  io::replace_file(path_, rows_until(path_, progress.global_step));
  file_.emplace(path_);
}

void JsonLines::row(const TrainingProgress& progress, const Metrics& row) {
  if (!file_) file_.emplace(path_);
  io::Json json = row_json(progress, row);
  json["time"] = unix_seconds();
  file_->append(io::dump_json(json, io::kOneLine) + "\n");
}

}  // namespace hearth::report
