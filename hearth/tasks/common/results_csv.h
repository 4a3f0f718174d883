#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hearth/metrics/metrics.h"

namespace hearth::tasks {

// Appends the epoch, the step and these metrics to a file as the evaluators of sentence-transformers do; the file's
// first row is the header.
struct ResultsCsv {
  std::filesystem::path file;
  std::vector<std::pair<std::string, std::string>> columns;  // the header's name, the metric's name
  std::string line_end = "\n";

  void append(double epoch, std::int64_t step, const Metrics& metrics) const;
};

ResultsCsv similarity_csv(const std::filesystem::path& folder, const std::string& similarity);
ResultsCsv retrieval_csv(const std::filesystem::path& folder, const std::string& similarity);
ResultsCsv cross_encoder_csv(const std::filesystem::path& folder);

}  // namespace hearth::tasks
