#include "hearth/migrate/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "hearth/base/usage_error.h"
#include "hearth/launch/plan/launch_options.h"
#include "hearth/tasks/run_arguments.h"

namespace hearth::migrate {
namespace {

bool is_task(std::string_view name) {
  return std::ranges::find(tasks::task_commands(), name, &tasks::TaskCommand::name) != tasks::task_commands().end();
}

// The declaration of a flag that is given with its whole name, the present one or an older one.
std::optional<Arguments::Declared> declaration_of(const Arguments& options, const std::string& name) {
  for (const Arguments::Declared& option : options.declared())
    if (option.name == name || std::ranges::find(option.aliases, name) != option.aliases.end()) return option;
  return std::nullopt;
}

// Parses the words of one flag alone. No option of `options` lacks a value that it needs.
void explain(OldFlag& flag, Arguments& options, const std::vector<std::string>& words, bool are_literal) {
  const std::string name = flag_name(words.front());
  const std::optional<Arguments::Declared> declared = declaration_of(options, name);
  if (declared && declared->name != name) {
    flag.new_name = "--" + declared->name;
    flag.remark = fmt::format("--{} is now {}", name, *flag.new_name);
  }
  try {
    options.parse(words);
    if (options.notices().empty()) return;
    flag.remark = "left out: " + options.notices().front();
  } catch (const UsageError& error) {
    const bool is_value_unknown = declared && declared->support == Arguments::Support::works && !are_literal;
    if (is_value_unknown) return;
    flag.remark = fmt::format("left out: {}", error.what());
    flag.is_lost = true;
  }
  flag.stays = false;
}

// "$@" and "${array[@]}" may be flags, with values.
bool may_be_flags(const OldWord& word) {
  return !word.is_literal &&
         (word.value.starts_with("$@") || word.value.starts_with("$*") || word.value.find("[@]") != word.value.npos);
}

// A flag's values are the words up to the next flag; there are no others behind the first flag.
std::vector<OldFlag> explain_all(std::span<const OldWord> words,
                                 const std::function<void(OldFlag&, const std::vector<std::string>&, bool)>& one) {
  const auto is_flag = [&](std::size_t i) { return words[i].value.starts_with("--"); };
  std::vector<OldFlag> flags;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_flag(i) || words[i].value == "--help") continue;
    OldFlag& flag = flags.emplace_back();
    flag.first = i;
    while (i + 1 < words.size() && !is_flag(i + 1) && !may_be_flags(words[i + 1])) ++i, ++flag.count;
    std::vector<std::string> own;
    bool are_literal = true;
    for (const OldWord& word : words.subspan(flag.first, flag.count)) {
      own.push_back(word.value);
      are_literal = are_literal && word.is_literal;
    }
    one(flag, own, are_literal);
  }
  return flags;
}

}  // namespace

std::string flag_name(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  name.erase(0, name.find_first_not_of('-'));
  std::ranges::replace(name, '-', '_');
  return name;
}

std::optional<std::string> command_of_script(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  return is_task(name) || name == "nlp_example" ? std::optional(name) : std::nullopt;
}

std::vector<OldFlag> flags_of_command(const std::string& command, std::span<const OldWord> words) {
  if (!is_task(command)) return {};  // nlp_example has the flags of nlp_example.py, which are two
  return explain_all(words, [&](OldFlag& flag, const std::vector<std::string>& own, bool are_literal) {
    const std::unique_ptr<tasks::Task> task = tasks::task_command(command).make();
    tasks::RunArguments target;
    target.model.model_name_or_path = "model";
    Arguments options;
    declare(options, target, *task);
    explain(flag, options, own, are_literal);
  });
}

OldLaunch flags_of_launch(std::span<const OldWord> words) {
  std::vector<std::string> values;
  for (const OldWord& word : words) values.push_back(word.value);
  const auto fresh = [](launch::LaunchOptions& target) {
    Arguments options;
    declare(options, target);
    return options;
  };
  launch::LaunchOptions any;
  const launch::LaunchWords split = launch::split_launch_words(values, fresh(any).declared());
  OldLaunch result{{}, split.target};
  for (const launch::LaunchWords::Flag& flag : split.flags) {
    OldFlag& old = result.flags.emplace_back(OldFlag{flag.first, flag.count, {}, true, false, ""});
    if (flag.word == "-h" || flag.word == "--help") continue;
    launch::LaunchOptions target;
    Arguments options = fresh(target);
    const bool are_literal = std::ranges::all_of(words.subspan(flag.first, flag.count), &OldWord::is_literal);
    explain(old, options, {flag.word}, are_literal);
  }
  return result;
}

}  // namespace hearth::migrate
