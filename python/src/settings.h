#pragma once

#include "hearth/base/arguments.h"
#include "hearth/train/training_arguments.h"

namespace hearth::python {

// TrainingArguments with the options that set its members.
struct Settings {
  Settings();
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  TrainingArguments args;
  Arguments options;
};

}  // namespace hearth::python
