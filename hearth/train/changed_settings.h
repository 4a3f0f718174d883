#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/io/json_fwd.h"
#include "hearth/train/trainer_state.h"

namespace hearth {

// The settings of a run that differ from those of the checkpoint that it resumes from, each as "seed 42 -> 7".

std::vector<std::string> changed_settings(const TrainerState& stored, const TrainerState& now);
// `stored` is the checkpoint's training_args.json. Flags that cannot change what training does are left out, and so are
// those that changed_settings() compares. Of the flags that may differ between processes, as paths do, those that name
// the model, its config or its tokenizer count; two paths of one folder are the same name.
std::vector<std::string> changed_flags(const io::Json& stored, std::span<const Arguments::Resolved> now);

}  // namespace hearth
