#pragma once

namespace hearth {

// Folders of this build, defined in paths.cc: the only test file that depends on where the source tree lies, so that a
// compiler cache serves every clone.
extern const char* const kFixturesFolder;     // tests/fixtures
extern const char* const kProgram;            // the program `hearth`
extern const char* const kFakePluginsFolder;  // a folder per fake communication plug-in

}  // namespace hearth
