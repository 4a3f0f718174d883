#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "hearth/io/folder_lock.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// Holds --output_dir for a run that trains, from before its first look into the folder to its end; the first process
// has it. Creates the folder, locks it, and tidies what killed runs have left. A folder that is still empty at the end
// goes again.
class OutputDirLock {
 public:
  // Errors: the folder cannot be created or written into, or another run holds it.
  explicit OutputDirLock(const TrainingArguments& args);
  ~OutputDirLock();
  OutputDirLock(const OutputDirLock&) = delete;
  OutputDirLock& operator=(const OutputDirLock&) = delete;

 private:
  std::filesystem::path folder_, existed_;  // the folder, and the nearest one above it that was there before
  std::optional<io::FolderLock> lock_;
};

// Checks --output_dir and returns the checkpoint to resume from, if any. A damaged one is passed over with a warning,
// unless --resume_from_checkpoint names it. Errors: a folder that cannot be written into or created; one that is not
// empty, unless the run resumes from a checkpoint in it, only evaluates, or is given --overwrite_output_dir; no
// checkpoint that can be resumed from. Changes nothing.
std::optional<std::filesystem::path> find_resume_checkpoint(const TrainingArguments& args);

// With --overwrite_output_dir: the checkpoints of former runs, which the run has to remove so that none of them is ever
// taken for one of its own. A run that resumes from one of them keeps them all.
std::vector<std::filesystem::path> former_checkpoints(const TrainingArguments& args,
                                                      const std::optional<std::filesystem::path>& checkpoint);
// An Error if one of `inputs`, folders that the run reads, is in a former checkpoint.
void check_inputs_stay(const TrainingArguments& args, const std::optional<std::filesystem::path>& checkpoint,
                       std::span<const std::filesystem::path> inputs);

}  // namespace hearth
