#include <fmt/format.h>

#include <filesystem>

#include "hearth/apps/command.h"
#include "hearth/base/check.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/usage_error.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/migrate/flags.h"
#include "hearth/migrate/migration.h"

namespace hearth::apps {
namespace {

bool is_file(const std::string& source) {
  std::error_code ignored;
  return source.find('\n') == source.npos && std::filesystem::is_regular_file(source, ignored);
}

bool is_python(const std::string& text) {
  return text.find("TrainingArguments(") != text.npos || text.find("Accelerator(") != text.npos;
}

migrate::Migration migrate_text(const std::string& text, const std::string& name) {
  return name.ends_with(".py") || is_python(text) ? migrate::migrate_python(text, name) : migrate::migrate_shell(text);
}

// A script that is not there; run_qa.py is a command without flags.
bool is_missing_file(const std::string& source) {
  const bool is_name = source.find_first_of(" \t\n") == source.npos;
  return is_name && (source.ends_with(".sh") || source.ends_with(".py")) && !migrate::command_of_script(source);
}

migrate::Migration migrate_source(const std::string& source) {
  if (source == "-") return migrate_text(io::read_stream("/dev/stdin"), "the script");
  if (is_file(source)) return migrate_text(io::read_file(source), source);
  check(!is_missing_file(source), "there is no script {}", source);
  return migrate_text(source, "the text");
}

io::Json to_json(const migrate::Migration& migration) {
  io::Json remarks = io::Json::array();
  for (const migrate::Remark& remark : migration.remarks)
    remarks.push_back({{"line", remark.line}, {"text", remark.text}});
  return {{"text", migration.text}, {"remarks", remarks}, {"complete", migration.complete}};
}

// A shell script: the remarks are comments.
void print(const migrate::Migration& migration) {
  if (!migration.text.empty()) fmt::print("{}\n", migration.text);
  bool has_lines = false;
  for (const migrate::Remark& remark : migration.remarks) has_lines = has_lines || remark.line > 1;
  for (const migrate::Remark& remark : migration.remarks)
    fmt::print("# {}{}\n", has_lines ? fmt::format("line {}: ", remark.line) : "", remark.text);
}

}  // namespace

int migrate(std::span<const std::string> words) {
  std::vector<std::string> source;
  bool json = false;
  Arguments arguments(
      "hearth migrate",
      "Turns a command for PyTorch, IPEX, the Trainer or Accelerate into the command of Hearth that does the same. "
      "Remarks say what was left out or renamed, and why.\n"
      "SOURCE is the command in quotes, a shell or Python script, or - for standard input.\n"
      "Exit status: 0 if everything was translated, 1 if a remark names something that has no counterpart, 2 if there "
      "is nothing to translate.");
  arguments.positional("SOURCE", &source, "command in quotes, script, or -").required();
  arguments.add("json", &json, "print JSON: text, remarks, complete");
  arguments.examples({"hearth migrate 'python3 run_qa.py --use_ipex --bf16 --evaluation_strategy epoch'",
                      "hearth migrate train.sh > train_hearth.sh", "hearth migrate my_script.py"});
  if (!parse_or_print_help(arguments, words, json)) return 0;
  return as_usage([&] {
    check(source.size() == 1, "'{}' is one word too many: put the whole command in quotes", source[1]);
    const migrate::Migration migration = migrate_source(source.front());
    json ? fmt::print("{}\n", io::dump_json(to_json(migration), 2)) : print(migration);
    return migration.complete ? 0 : kFailureStatus;
  });
}

}  // namespace hearth::apps
