#include <fmt/format.h>

#include "hearth/base/check.h"
#include "hearth/migrate/migration.h"
#include "hearth/migrate/shell_command.h"

namespace hearth::migrate {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == text.npos ? "" : text.substr(begin, end + 1 - begin);
}

// Whether the syntax needs a command in the pipeline's place: after `then`, before || and between && and a line end.
bool is_needed(std::string_view text, const ShellPipeline& pipeline) {
  const std::string_view separator = trimmed(text.substr(pipeline.end, pipeline.separator_end - pipeline.end));
  if (pipeline.follows_keyword || separator == "||" || separator == "&") return true;
  const std::string_view before = trimmed(text.substr(0, pipeline.begin));
  return separator != "&&" && (before.ends_with("&&") || before.ends_with("||"));
}

// Takes a pipeline out of the text, with the operator or line end behind it.
void drop(TextEdits& edits, std::string_view text, const ShellPipeline& pipeline) {
  if (is_needed(text, pipeline)) return edits.replace(pipeline.begin, pipeline.end, ":");
  std::size_t end = pipeline.separator_end;
  while (end > pipeline.end && end < text.size() && text[end - 1] != '\n' && text[end] == ' ') ++end;
  edits.remove(pipeline.begin, end);
}

}  // namespace

Migration migrate_shell(std::string_view text) {
  Migration result;
  TextEdits edits;
  bool is_known = false;
  for (const ShellPipeline& pipeline : parse_shell(text)) {
    TextEdits own;
    bool is_dropped = false;
    for (const ShellCommand& command : pipeline.commands) {
      const CommandMigration migrated = migrate_command(text, command);
      is_known = is_known || migrated.is_known;
      is_dropped = is_dropped || migrated.is_dropped;
      result.complete = result.complete && migrated.complete;
      result.remarks.insert(result.remarks.end(), migrated.remarks.begin(), migrated.remarks.end());
      own.add(migrated.edits);
    }
    is_dropped ? drop(edits, text, pipeline) : edits.add(own);
  }
  check(is_known,
        "there is no command here that Hearth replaces, such as python3 run_qa.py, accelerate launch, torchrun or "
        "ipexrun, alone or behind mpirun");
  result.text = trimmed(edits.applied_to(text));
  return result;
}

}  // namespace hearth::migrate
