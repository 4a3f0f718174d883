#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/io/appended_file.h"

namespace hearth::report {

// A distribution of numbers: `counts[i]` of them lie below `limits[i]` and not below the limit before it.
struct Histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits, counts;
};
// Eight buckets per power of two, empty ones joined. NaN and infinity are left out.
Histogram histogram_of(std::span<const float> values);

// A file that TensorBoard reads: a series of records, each a protocol buffer (tensorflow.Event) with its length and two
// checksums. Every call is on its way to readers when it returns.
class EventFile {
 public:
  explicit EventFile(const std::filesystem::path& folder);  // events.out.tfevents.TIME.HOST.PID.N, a new file

  const std::filesystem::path& path() const { return file_.path(); }

  void add_scalars(std::int64_t step, std::span<const std::pair<std::string, double>> scalars);
  void add_text(const std::string& tag, std::string_view markdown);
  void add_histogram(std::int64_t step, const std::string& tag, const Histogram& histogram);
  // TensorBoard forgets what earlier files of the folder hold of this step and later ones.
  void add_restart(std::int64_t step);

 private:
  void add(std::int64_t step, std::string_view what);

  io::AppendedFile file_;
};

}  // namespace hearth::report
