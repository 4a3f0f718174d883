#pragma once

#include <string_view>
#include <vector>

#include "hearth/migrate/migration.h"
#include "hearth/migrate/shell_syntax.h"
#include "hearth/migrate/text_edits.h"

namespace hearth::migrate {

// What becomes of a command.
struct CommandMigration {
  bool is_known = false;    // Hearth has to do with it
  bool is_dropped = false;  // nothing takes its place; the edits do not count then
  bool complete = true;
  TextEdits edits;
  std::vector<Remark> remarks;
};

// `command` is a part of `text`.
CommandMigration migrate_command(std::string_view text, const ShellCommand& command);

}  // namespace hearth::migrate
