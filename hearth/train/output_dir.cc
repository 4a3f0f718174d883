#include "hearth/train/output_dir.h"

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/file.h"
#include "hearth/io/replace_folder.h"

namespace hearth {
namespace {

bool is_checkpoint(const std::filesystem::path& folder) { return io::checkpoint_step(folder).has_value(); }

// A run writes its settings when it begins, and the model when it ends.
bool died_before_its_first_checkpoint(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "training_args.json") &&
         !std::filesystem::exists(folder / "model.safetensors");
}

// Whether the folder can be written into, or made; nothing is created.
void check_usable(const std::filesystem::path& output_dir) {
  std::filesystem::path existing = std::filesystem::absolute(output_dir);
  while (!std::filesystem::exists(existing)) existing = existing.parent_path();
  check(std::filesystem::is_directory(existing), "--output_dir {}: {} is not a folder", output_dir.string(),
        existing.string());
  io::check_writable(existing);
}

}  // namespace

std::optional<std::filesystem::path> find_resume_checkpoint(const TrainingArguments& args) {
  const std::filesystem::path folder = args.output_dir;
  check_usable(folder);
  if (args.do_train) io::finish_replacements(folder, is_checkpoint);
  if (args.resume_from_checkpoint && !args.resumes_from_last()) {
    check(std::filesystem::is_directory(*args.resume_from_checkpoint),
          "--resume_from_checkpoint: there is no folder {}", *args.resume_from_checkpoint);
    return std::filesystem::path(*args.resume_from_checkpoint);
  }
  const std::optional<std::filesystem::path> last = io::last_checkpoint(folder);
  if (args.resumes_from_last()) {
    check(last.has_value(), "--resume_from_checkpoint: there is no checkpoint in {}", folder.string());
    return last;
  }
  if (args.overwrite_output_dir || !args.do_train) return std::nullopt;
  if (last) {
    log_info(
        "checkpoint found, resuming from {}; to start from the beginning use --overwrite_output_dir or another "
        "--output_dir",
        last->string());
    return last;
  }
  if (died_before_its_first_checkpoint(folder)) {
    log_info("the run in {} ended before its first checkpoint; training starts from the beginning", folder.string());
    return std::nullopt;
  }
  check(!std::filesystem::exists(folder) || std::filesystem::is_empty(folder),
        "the output folder {} exists and is not empty; use --overwrite_output_dir or another --output_dir",
        folder.string());
  return std::nullopt;
}

}  // namespace hearth
