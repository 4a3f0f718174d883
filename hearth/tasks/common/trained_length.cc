#include "hearth/tasks/common/trained_length.h"

#include "hearth/io/json.h"

namespace hearth::tasks {

std::int64_t trained_length(const std::filesystem::path& folder, std::int64_t otherwise) {
  constexpr std::int64_t kLargest = 1 << 30;
  const std::filesystem::path file = folder / "training_args.json";
  if (!std::filesystem::exists(file)) return otherwise;
  const io::Json trained = io::read_json(file);
  constexpr const char* kKey = "max_seq_length";
  if (trained.is_object() && (!trained.contains(kKey) || trained.at(kKey).is_null())) return otherwise;
  return io::get_int_within(trained, kKey, 1, kLargest, file.string());
}

}  // namespace hearth::tasks
