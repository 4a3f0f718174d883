#include "hearth/apps/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hearth/apps/command.h"

namespace hearth::apps {
namespace {

using Words = std::span<const std::string>;

enum class Shell { bash, zsh, fish };
constexpr std::array<std::string_view, 3> names_of(Shell) { return {"bash", "zsh", "fish"}; }

// Each script asks the program itself, with the words of the command line: `hearth completion words run_qa --max_`.
constexpr std::string_view kAsk = "words";

constexpr std::string_view script(Shell shell) {
  switch (shell) {
    case Shell::bash:
      return R"(_hearth() {
  local IFS=$'\n' answer
  COMPREPLY=()
  for answer in $("${1/#\~/$HOME}" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    COMPREPLY+=("${answer%%$'\t'*}")
  done
}
complete -o default -F _hearth hearth
)";
    case Shell::zsh:
      return R"(#compdef hearth
_hearth() {
  local -a answers
  local answer
  for answer in "${(@f)$("${words[1]/#\~/$HOME}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $answer ]] && answers+=("${${answer%%$'\t'*}//:/\\:}:${answer#*$'\t'}")
  done
  if (( $#answers )); then _describe -V hearth answers; else _files; fi
}
if [[ $funcstack[1] == _hearth ]]; then _hearth "$@"; else compdef _hearth hearth; fi
)";
    case Shell::fish:
      break;
  }
  return R"(function __hearth_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l program (string replace -r '^~' $HOME $words[1])
    set -l answers ($program completion words $words[2..-1] "$last" 2>/dev/null)
    if test (count $answers) -gt 0
        printf '%s\n' $answers
    else
        __fish_complete_path "$last"
    end
end
complete -c hearth -f -a '(__hearth_complete)'
)";
}

std::vector<Candidate> matching(std::span<const Command> all, std::string_view prefix) {
  std::vector<Candidate> found;
  for (const Command& command : all)
    if (command.name.starts_with(prefix)) found.push_back({std::string(command.name), std::string(command.summary)});
  return found;
}

using Options = std::vector<Arguments::Described>;

// The option of a flag that waits for a value.
const Arguments::Described* expecting_value(const Options& options, std::string_view flag) {
  const auto found = std::ranges::find_if(options, [&](const Arguments::Described& option) {
    return !option.is_switch && std::ranges::find(option.spellings, flag) != option.spellings.end();
  });
  return found == options.end() ? nullptr : &*found;
}

std::vector<Candidate> choices_of(const Arguments::Described& option, std::string_view prefix) {
  std::vector<Candidate> found;
  for (const std::string& choice : option.choices)
    if (choice.starts_with(prefix)) found.push_back({choice, option.label});
  return found;
}

// Other spellings of an option come only where the user has begun one.
std::vector<Candidate> flags(const Options& options, std::string_view prefix) {
  std::vector<Candidate> found;
  for (const Arguments::Described& option : options)
    for (const std::string& spelling : option.spellings)
      if (spelling.starts_with(prefix) && (spelling == option.spellings.front() || prefix.size() > 2))
        found.push_back({spelling, option.explanation});
  if (std::string_view("--help").starts_with(prefix)) found.push_back({"--help", "explain all arguments"});
  return found;
}

// The first word that is neither a flag nor the value of one; words.size() if there is none.
std::size_t first_loose(Words words, const Options& options) {
  std::size_t i = 0;
  while (i < words.size() && words[i].starts_with('-')) i += expecting_value(options, words[i]) != nullptr ? 2 : 1;
  return std::min(i, words.size());
}

std::vector<Candidate> complete_arguments(const Command& command, Words words) {
  const Options options = describe(command).options;
  const std::string& last = words.back();
  if (command.name == "launch") {  // the target is a command with flags of its own
    const std::size_t target = first_loose(words.first(words.size() - 1), options);
    if (target + 1 < words.size()) return complete(words.subspan(target));
  }
  const auto* const waiting = words.size() > 1 ? expecting_value(options, words[words.size() - 2]) : nullptr;
  if (waiting != nullptr) return choices_of(*waiting, last);
  if (last.starts_with('-')) return flags(options, last);
  if (command.name == "launch") return matching(commands(), last);
  const auto positional =
      std::ranges::find_if(options, [](const Arguments::Described& option) { return option.spellings.empty(); });
  if (positional != options.end()) return choices_of(*positional, last);
  return last.empty() ? flags(options, last) : std::vector<Candidate>{};
}

std::vector<Candidate> complete(std::span<const Command> all, Words words) {
  if (words.size() == 1) return matching(all, words[0]);
  const auto found = std::ranges::find(all, words[0], &Command::name);
  if (found == all.end()) return {};
  return found->parts.empty() ? complete_arguments(*found, words.subspan(1)) : complete(found->parts, words.subspan(1));
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

std::vector<Candidate> complete(std::span<const std::string> words) {
  if (words.size() == 2 && words[0] == "help") words = words.subspan(1);
  if (words.size() == 1 && words[0].starts_with('-'))
    return {{"--help", "list the commands"}, {"--version", "print the version"}};
  return words.empty() ? std::vector<Candidate>{} : complete(commands(), words);
}

int completion(std::span<const std::string> words) {
  if (!words.empty() && words[0] == kAsk) {
    for (const Candidate& candidate : complete(words.subspan(1)))
      fmt::print("{}\t{}\n", candidate.word, first_line(candidate.meaning));
    return 0;
  }
  Shell shell = Shell::bash;
  Arguments arguments("hearth completion",
                      "Prints the script that lets a shell complete the commands, flags and choices of hearth.");
  arguments.positional("SHELL", choice(&shell), "shell that the script is for");
  arguments.examples({"source <(hearth completion bash)", "hearth completion zsh >~/.zsh/completions/_hearth",
                      "hearth completion fish >~/.config/fish/completions/hearth.fish"});
  if (!parse_or_print_help(arguments, words)) return 0;
  fmt::print("{}", script(shell));
  return 0;
}

}  // namespace hearth::apps
