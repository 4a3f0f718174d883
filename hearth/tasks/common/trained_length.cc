#include "hearth/tasks/common/trained_length.h"

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::tasks {

std::int64_t trained_length(const std::filesystem::path& folder, std::int64_t otherwise) {
  constexpr std::int64_t kLargest = 1 << 30;
  const std::filesystem::path file = folder / "training_args.json";
  if (!std::filesystem::exists(file)) return otherwise;
  const std::int64_t length = io::get_int_or(io::read_json(file), "max_seq_length", otherwise, file.string());
  check(length >= 1 && length <= kLargest, "{}: max_seq_length is {}, out of range", file.string(), length);
  return length;
}

}  // namespace hearth::tasks
