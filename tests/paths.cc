#include "tests/paths.h"

namespace hearth {

constinit const char* const kFixturesFolder = HEARTH_FIXTURES;
constinit const char* const kProgram = HEARTH_PROGRAM;
constinit const char* const kFakePluginsFolder = HEARTH_FAKE_PLUGINS;

}  // namespace hearth
