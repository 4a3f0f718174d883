// Words of an old command, from left to right:
//   assignments   A=1 B=2
//   wrapper       mpirun -n 2, numactl -N 0, ...: stays as it is
//   starter       python3, torchrun, ipexrun, accelerate launch, with flags of its own
//   script        run_qa.py, with its arguments
#include "hearth/migrate/shell_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hearth/base/error.h"
#include "hearth/base/shell_word.h"
#include "hearth/migrate/flags.h"
#include "hearth/migrate/old_launchers.h"
#include "hearth/migrate/old_programs.h"
#include "hearth/migrate/old_variables.h"

namespace hearth::migrate {
namespace {

using Words = std::span<const ShellWord>;

bool is_environment_runner(Words words) {
  return words.size() > 1 && has_environment_runner(words[0].value) && words[1].value == "run";
}

// Where the blanks and continued lines before text[place] begin.
std::size_t begin_of_gap(std::string_view text, std::size_t place) {
  for (;;) {
    const std::string_view before = text.substr(0, place);
    if (before.ends_with("\\\r\n"))
      place -= 3;
    else if (before.ends_with("\\\n"))
      place -= 2;
    else if (before.ends_with(' ') || before.ends_with('\t'))
      place -= 1;
    else
      return place;
  }
}

std::vector<OldWord> old_words(Words words) {
  std::vector<OldWord> result;
  for (const ShellWord& word : words) result.push_back({word.value, word.is_literal});
  return result;
}

class CommandTranslation {
 public:
  CommandTranslation(std::string_view text, Words words) : text_(text), words_(words) {}

  CommandMigration run() {
    skip_prompt();
    const auto first = std::ranges::find_if_not(words_, is_assignment, &ShellWord::value);
    const Words variables(words_.begin(), first);
    words_ = words_.subspan(variables.size());
    if (words_.empty()) {
      take_variables(variables);
    } else {
      take_program();
      if (becomes_hearth_) take_variables_before(variables);
    }
    return std::move(result_);
  }

 private:
  std::string_view value(std::size_t i) const { return i < words_.size() ? std::string_view(words_[i].value) : ""; }
  std::string typed(std::size_t i) const {
    return std::string(text_.substr(words_[i].begin, words_[i].end - words_[i].begin));
  }

  void remark(std::size_t place, std::string sentence) {
    result_.remarks.push_back({line_of(text_, place), std::move(sentence)});
  }
  void drop(std::size_t place, std::string sentence) {
    result_.is_known = result_.is_dropped = true;
    remark(place, "left out: " + std::move(sentence));
  }
  void fail_to_translate(std::size_t place, std::string sentence) {
    result_.is_known = true;
    result_.complete = false;
    remark(place, std::move(sentence));
  }

  // With the blanks and line ends before it.
  void remove_words(std::size_t first, std::size_t count) {
    result_.edits.remove(begin_of_gap(text_, words_[first].begin), words_[first + count - 1].end);
  }

  // "$ command", as documents show it.
  void skip_prompt() {
    if (words_.size() < 2 || words_[0].value != "$") return;
    result_.edits.remove(words_[0].begin, words_[1].begin);
    words_ = words_.subspan(1);
  }

  // Whether the variable is left out.
  bool is_idle(const ShellWord& word) {
    const std::size_t equals = word.value.find('=');
    const std::string name = word.value.substr(0, equals);
    const auto reason = why_without_effect(name, word.value.substr(equals + 1));
    if (reason) remark(word.begin, fmt::format("left out: {} has no effect: {}", name, *reason));
    return reason.has_value();
  }

  // A=1 B=2 command
  void take_variables_before(Words variables) {
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (is_idle(variables[i]))
        result_.edits.remove(variables[i].begin, i + 1 < variables.size() ? variables[i + 1].begin : words_[0].begin);
  }

  // The whole command, but for the word `export`.
  void take_variables(Words variables) {
    std::size_t idle = 0;
    for (const ShellWord& variable : variables) {
      const std::string& word = variable.value;
      if (word.find("oneccl_bindings_for_pytorch") != word.npos || word.find("torch_ccl") != word.npos)
        return drop(variable.begin, "the path of oneCCL's bindings for PyTorch, which Hearth does not use");
      if (!is_assignment(word) || !is_idle(variable)) continue;
      ++idle;
      result_.edits.remove(begin_of_gap(text_, variable.begin), variable.end);
    }
    result_.is_known = result_.is_known || idle > 0;
    result_.is_dropped = idle > 0 && idle == variables.size();
  }

  void take_program() {
    const std::string_view program = value(0);
    if (program == "export") {
      result_.is_known = true;
      take_variables(words_.subspan(1));
    } else if (program == "source" || program == ".") {
      take_source();
    } else if (is_environment_runner(words_)) {
      take_environment_runner();
    } else if (is_installer(program)) {
      drop(words_[0].begin, fmt::format("{} {}: Hearth needs no Python package and no environment", program, value(1)));
    } else {
      take_wrapped();
    }
  }

  void take_source() {
    const std::string_view file = value(1);
    if (file.ends_with("vars.sh")) {
      result_.is_known = true;
      result_.edits.replace(words_[0].begin, words_.back().end, "eval \"$(hearth env --setvars)\"");
      remark(words_[0].begin, "only Intel's mpirun needs these paths: the ccl plug-in finds oneCCL without them");
    } else if (file_name(file) == "activate") {
      drop(words_[0].begin, "Hearth needs no Python environment");
    }
  }

  void take_environment_runner() {
    const std::optional<std::size_t> starter = find_starter();
    if (!starter) return;
    const Words runner = words_.first(*starter);
    words_ = words_.subspan(*starter);
    take_starter(0);
    if (!becomes_hearth_) return;
    result_.edits.remove(runner[0].begin, words_[0].begin);
    remark(runner[0].begin, fmt::format("left out: {} run: Hearth needs no Python environment", runner[0].value));
  }

  // The word that begins the starter, or the script itself. Behind a program that may be no launcher, such as `cd` or
  // `cat`, only python3 counts.
  std::optional<std::size_t> find_starter() const {
    const bool is_launched = is_wrapper(value(0)) || is_foreign_launcher(value(0)) || is_environment_runner(words_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const bool is_python_alone = i > 0 && !is_launched;
      if (is_python(value(i)) || (!is_python_alone && (is_starter(value(i)) || is_shell_line(i)))) return i;
    }
    return std::nullopt;
  }

  // bash -c 'commands'
  bool is_shell_line(std::size_t shell) const {
    const std::string_view flag = value(shell + 1);
    return is_shell(value(shell)) && flag.starts_with('-') && flag.ends_with('c') && shell + 2 < words_.size();
  }

  void take_wrapped() {
    if (is_shell(value(0)) && words_.size() > 1 && value(1).ends_with(".sh")) {
      fail_to_translate(words_[0].begin,
                        fmt::format("{0} stays as it is: `hearth migrate {0}` translates it", value(1)));
      return;
    }
    const std::optional<std::size_t> starter = find_starter();
    if (!starter) return;
    if (std::ranges::any_of(words_, [](const ShellWord& word) { return word.value == ":"; })) {
      fail_to_translate(words_[0].begin, "several programs with : between them stay as they are: translate each alone");
      return;
    }
    take_starter(*starter);
    if (!result_.is_known || *starter == 0 || is_wrapper(value(0))) return;
    fail_to_translate(
        words_[0].begin,
        fmt::format("{} stays as it is, but Hearth does not know this launcher: it joins jobs of mpirun, srun and "
                    "`hearth launch`",
                    value(0)));
  }

  void take_starter(std::size_t i) {
    const std::string_view program = value(i);
    if (is_python(program)) return take_python(i);
    if (is_hearth(program)) return void(result_.is_known = true);
    if (is_accelerate(program)) return take_accelerate(i, i);
    if (is_shell(program)) return take_shell_line(i);
    if (is_script(program)) return take_script(i, i, "hearth ");
    take_launcher(is_torchrun(program) ? OldLauncher::torchrun : OldLauncher::ipexrun, i, i + 1);
  }

  // python3 [options] script.py, or python3 -m module
  void take_python(std::size_t python) {
    std::size_t i = python + 1;
    while (value(i).size() > 1 && value(i)[0] == '-' && value(i) != "-m" && value(i) != "-c")
      i += value(i) == "-X" || value(i) == "-W" ? 2 : 1;
    if (value(i) != "-m") {
      if (is_script(value(i))) take_script(python, i, "hearth ");
      return;
    }
    const std::string_view module = value(i + 1);
    if (module == "pip") {
      drop(words_[python].begin, "pip: Hearth needs no Python package and no environment");
    } else if (const auto launcher = launcher_of_module(module)) {
      take_launcher(*launcher, python, i + 2);
    } else if (module == "accelerate.commands.launch") {
      take_launch(python, i + 2);
    } else if (module.starts_with("accelerate.commands.") || module == "accelerate") {
      take_accelerate(python, i + 1);
    } else if (i + 1 < words_.size()) {
      take_script(python, i + 1, "hearth ");
    }
  }

  // The words from `begin` to the script become `before`, a command of Hearth or its beginning.
  void take_script(std::size_t begin, std::size_t script, std::string before) {
    std::string name(file_name(value(script)));
    const bool is_module = !is_script(name);
    if (is_module) name = name.substr(name.rfind('.') + 1);
    const std::optional<std::string> command = command_of_script(name);
    if (!command) return take_own_script(begin, script, before);
    result_.is_known = becomes_hearth_ = true;
    result_.edits.replace(words_[begin].begin, words_[script].end, before + *command);
    take_flags(flags_of_command(*command, old_words(words_.subspan(script + 1))), script + 1);
  }

  void take_own_script(std::size_t begin, std::size_t script, const std::string& before) {
    const std::string_view name = value(script);
    if (before == "hearth ") {
      fail_to_translate(
          words_[script].begin,
          fmt::format("Hearth has no command for {0}, which stays as it is; `hearth migrate {0}` tells what "
                      "its lines become",
                      name));
      return;
    }
    result_.is_known = true;
    result_.edits.replace(words_[begin].begin, words_[script].begin, before);
    remark(
        words_[script].begin,
        fmt::format("{0} stays a Python script, with PyTorch; `hearth migrate {0}` tells what its lines become", name));
  }

  void take_flags(const std::vector<OldFlag>& flags, std::size_t offset) {
    for (const OldFlag& flag : flags) {
      const ShellWord& word = words_[offset + flag.first];
      if (!flag.remark.empty()) remark(word.begin, flag.remark);
      if (flag.is_lost) result_.complete = false;
      if (!flag.stays) {
        remove_words(offset + flag.first, flag.count);
      } else if (flag.new_name) {
        const std::string as_typed = typed(offset + flag.first);
        result_.edits.replace(word.begin, word.begin + std::min(as_typed.find('='), as_typed.size()), *flag.new_name);
      }
    }
  }

  // `name` is the word `accelerate`; it and the words before it, from `begin` on, become `hearth`.
  void take_accelerate(std::size_t begin, std::size_t name) {
    constexpr std::array<std::string_view, 4> kSame{"config", "test", "env", "estimate-memory"};
    if (file_name(value(name)) == "accelerate-launch") return take_launch(begin, name + 1);
    if (value(name + 1) == "launch") return take_launch(begin, name + 2);
    if (std::ranges::find(kSame, value(name + 1)) != kSame.end()) {
      result_.is_known = true;
      result_.edits.replace(words_[begin].begin, words_[name].end, "hearth");
    } else {
      fail_to_translate(words_[name].begin,
                        fmt::format("hearth has no counterpart of `accelerate {}`", value(name + 1)));
    }
  }

  // Words from `begin` to before `first` become `hearth launch`; `first` is its first flag or the script.
  void take_launch(std::size_t begin, std::size_t first) {
    result_.is_known = true;
    result_.edits.replace(words_[begin].begin, words_[first - 1].end, "hearth launch");
    const OldLaunch launch = flags_of_launch(old_words(words_.subspan(first)));
    take_flags(launch.flags, first);
    const std::size_t script = first + launch.target;
    if (script >= words_.size()) return;
    const std::optional<std::string> command = command_of_script(value(script));
    if (command)
      take_script(script, script, "");
    else if (is_script(value(script)))
      take_own_script(script, script, "");
  }

  // Words from `begin` to the script become `hearth launch` with its flags; `first` is the launcher's first flag.
  void take_launcher(OldLauncher launcher, std::size_t begin, std::size_t first) {
    std::vector<std::string> as_typed;
    for (std::size_t i = first; i < words_.size(); ++i) as_typed.push_back(typed(i));
    NewLaunch launch = translate_launcher(launcher, old_words(words_.subspan(first)), as_typed);
    for (std::string& sentence : launch.remarks) remark(words_[begin].begin, std::move(sentence));
    result_.complete = result_.complete && launch.is_complete;
    const std::size_t script = first + launch.target;
    if (script >= words_.size()) {
      fail_to_translate(words_[begin].begin, fmt::format("{} starts no script here", value(begin)));
      return;
    }
    std::erase(launch.words, command_of_script(value(script)) ? "--module" : "");
    launch.words.insert(launch.words.begin(), {"hearth", "launch"});
    take_script(begin, script, fmt::format("{} ", fmt::join(launch.words, " ")));
  }

  void take_shell_line(std::size_t shell) {
    const std::size_t line = shell + 2;
    if (!words_[line].is_literal) {
      fail_to_translate(words_[line].begin,
                        "the text after -c has variables in it: translate it alone, in single quotes");
      return;
    }
    Migration inner;
    try {
      inner = migrate_shell(value(line));
    } catch (const Error&) {
      return;  // no command that Hearth replaces
    }
    result_.is_known = true;
    result_.complete = result_.complete && inner.complete;
    for (Remark& sentence : inner.remarks) remark(words_[line].begin, std::move(sentence.text));
    result_.edits.replace(words_[line].begin, words_[line].end, shell_word(inner.text));
  }

  std::string_view text_;
  Words words_;
  CommandMigration result_;
  bool becomes_hearth_ = false;  // instead of a Python program
};

}  // namespace

CommandMigration migrate_command(std::string_view text, const ShellCommand& command) {
  return CommandTranslation(text, command.words).run();
}

}  // namespace hearth::migrate
