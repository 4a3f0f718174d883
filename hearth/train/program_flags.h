#pragma once

#include <span>
#include <string>

#include "hearth/base/arguments.h"
#include "hearth/io/json_fwd.h"
#include "hearth/train/training_arguments.h"

// The flags of a training program: from its command line, a file and the environment, and to a file.
namespace hearth {

// Parses flags. The first word may be a file (.json, .yaml, .yml) with the flags' whole names as keys; flags override
// it. Throws UsageError.
void parse_flags_or_file(Arguments& options, std::span<const std::string> words);
// Takes the precision that `hearth launch` or `accelerate launch` was given (ACCELERATE_MIXED_PRECISION) where neither
// fp16 nor bf16 is set. For programs, before validate().
void take_precision_of_launcher(TrainingArguments& arguments);
// The values as an object that such a file may hold.
io::Json to_json(std::span<const Arguments::Resolved> values);

}  // namespace hearth
