// The Trainer and the Accelerator, metrics, and command-line arguments.
#pragma once

#include "hearth/accelerate/accelerator.h"
#include "hearth/accelerate/optimize.h"
#include "hearth/accelerate/program.h"
#include "hearth/base/arguments.h"
#include "hearth/base/not_finite_error.h"
#include "hearth/base/usage_error.h"
#include "hearth/metrics/classification.h"
#include "hearth/metrics/metrics.h"
#include "hearth/train/callbacks.h"
#include "hearth/train/eval_prediction.h"
#include "hearth/train/trainer.h"
#include "hearth/train/training_arguments.h"
