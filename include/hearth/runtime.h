// Threads, instruction set and messages of the process.
#pragma once

#include "hearth/base/log_sink.h"
#include "hearth/cpu/runtime.h"
