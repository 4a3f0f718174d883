#pragma once

#include <optional>

#include "hearth/io/appended_file.h"
#include "hearth/report/reporter.h"

namespace hearth::report {

inline constexpr const char* kLogFile = "log.jsonl";

// Every row of the log as a line of JSON in output_dir/log.jsonl. A resumed run goes on in the same file, without the
// rows of steps that it makes again.
class JsonLines final : public Reporter {
 public:
  explicit JsonLines(const RunFacts& facts) : path_(facts.output_dir / kLogFile) {}

  void begin(const TrainingProgress& progress) override;
  void row(const TrainingProgress& progress, const Metrics& row) override;

 private:
  const std::filesystem::path path_;
  std::optional<io::AppendedFile> file_;
};

}  // namespace hearth::report
