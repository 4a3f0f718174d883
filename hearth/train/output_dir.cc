#include "hearth/train/output_dir.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/file.h"
#include "hearth/io/replace_folder.h"
#include "hearth/train/checkpoint.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

bool is_checkpoint(const fs::path& folder) { return io::checkpoint_step(folder).has_value(); }

// A run writes its settings when it begins, and the model when it ends.
bool died_before_its_first_checkpoint(const fs::path& folder) {
  return fs::exists(folder / "training_args.json") && !fs::exists(folder / "model.safetensors");
}

bool holds_nothing(const fs::path& folder) {
  return !fs::exists(folder) || std::ranges::all_of(fs::directory_iterator(folder), [](const fs::directory_entry& one) {
    return one.path().filename() == io::kLockFile;
  });
}

fs::path whole_path(const fs::path& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();  // "out/" has no filename
}

// The folder, or the nearest one above it that exists; an Error if it is no folder or cannot be written into.
fs::path usable_part(const fs::path& output_dir) {
  fs::path existing = whole_path(output_dir);
  while (!fs::exists(existing)) existing = existing.parent_path();
  check(fs::is_directory(existing), "--output_dir {}: {} is not a folder", output_dir.string(), existing.string());
  io::check_writable(existing);
  return existing;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(path), parent = fs::weakly_canonical(folder);
  return std::ranges::mismatch(whole, parent).in2 == parent.end();
}

bool overwrites(const TrainingArguments& args, const std::optional<fs::path>& checkpoint) {
  return args.do_train && args.overwrite_output_dir && !(checkpoint && is_inside(*checkpoint, args.output_dir));
}

// Says what is wrong with the checkpoint; empty if it is good.
std::string damage(const fs::path& checkpoint) try {
  check_checkpoint(checkpoint);
  return "";
} catch (const Error& error) {
  return error.what();
}

fs::path named_checkpoint(const fs::path& folder) {
  check(!folder.empty(),
        "--resume_from_checkpoint is empty: give the folder of a checkpoint, or True for the last one");
  check(fs::is_directory(folder), "--resume_from_checkpoint: there is no folder {}", folder.string());
  if (const std::vector<fs::path> inside = io::list_checkpoints(folder); !inside.empty())
    fail("--resume_from_checkpoint {}: that is the output folder of a run; name one of its checkpoints, such as {}",
         folder.string(), inside.back().string());
  const std::string reason = damage(folder);
  check(reason.empty(),
        "--resume_from_checkpoint {}: {}. Name another checkpoint, or give True for the last good one in --output_dir",
        folder.string(), reason);
  return folder;
}

std::optional<fs::path> last_good_checkpoint(const fs::path& output_dir) {
  std::vector<fs::path> checkpoints = io::list_checkpoints(output_dir);
  std::ranges::reverse(checkpoints);
  for (const fs::path& checkpoint : checkpoints) {
    const std::string reason = damage(checkpoint);
    if (reason.empty()) return checkpoint;
    log_warning("{} cannot be resumed from and is passed over: {}", checkpoint.string(), reason);
  }
  check(checkpoints.empty(),
        "none of the checkpoints in {} can be resumed from; start from the beginning with --overwrite_output_dir or "
        "another --output_dir",
        output_dir.string());
  return std::nullopt;
}

}  // namespace

OutputDirLock::OutputDirLock(const TrainingArguments& args)
    : folder_(whole_path(args.output_dir)), existed_(usable_part(args.output_dir)) {
  io::create_directories(folder_);
  for (fs::path made = folder_; made != existed_; made = made.parent_path()) io::sync_folder(made.parent_path());
  lock_.emplace(args.output_dir, "wait for it, stop it, or choose another --output_dir");
  io::finish_replacements(folder_, is_checkpoint);
  io::remove_abandoned_files(folder_);
}

OutputDirLock::~OutputDirLock() {
  lock_.reset();
  std::error_code not_empty;
  for (fs::path made = folder_; made != existed_; made = made.parent_path())
    if (!fs::remove(made, not_empty)) break;
}

std::optional<fs::path> find_resume_checkpoint(const TrainingArguments& args) {
  const fs::path folder = args.output_dir;
  usable_part(folder);
  if (args.resume_from_checkpoint && !args.resumes_from_last()) return named_checkpoint(*args.resume_from_checkpoint);
  if (args.resumes_from_last()) {
    const std::optional<fs::path> last = last_good_checkpoint(folder);
    check(last.has_value(), "--resume_from_checkpoint: there is no checkpoint in {}", folder.string());
    return last;
  }
  if (args.overwrite_output_dir || !args.do_train) return std::nullopt;
  if (const std::optional<fs::path> last = last_good_checkpoint(folder)) {
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
  check(holds_nothing(folder),
        "the output folder {} exists and is not empty; use --overwrite_output_dir or another --output_dir",
        folder.string());
  return std::nullopt;
}

std::vector<fs::path> former_checkpoints(const TrainingArguments& args, const std::optional<fs::path>& checkpoint) {
  return overwrites(args, checkpoint) ? io::list_checkpoints(args.output_dir) : std::vector<fs::path>();
}

void check_inputs_stay(const TrainingArguments& args, const std::optional<fs::path>& checkpoint,
                       std::span<const fs::path> inputs) {
  for (const fs::path& former : former_checkpoints(args, checkpoint))
    for (const fs::path& input : inputs)
      check(!is_inside(input, former),
            "--overwrite_output_dir removes the checkpoints in {}, but this run starts from {}: choose another "
            "--output_dir, or move that folder first",
            args.output_dir, input.string());
}

}  // namespace hearth
