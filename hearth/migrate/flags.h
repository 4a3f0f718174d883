#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::migrate {

// The command of Hearth that does what a script does: run_qa for examples/run_qa.py.
std::optional<std::string> command_of_script(std::string_view path);

// num_processes for --num-processes=2.
std::string flag_name(std::string_view word);

// A flag of an old command line, among its words.
struct OldFlag {
  std::size_t first = 0, count = 1;     // its words: the flag and its values
  std::optional<std::string> new_name;  // where the flag has another name now: "--eval_strategy"
  bool stays = true;                    // as it is, or under its new name
  bool is_lost = false;                 // it does not stay, though it had an effect
  std::string remark;                   // if it does not stay or has another name
};

// What becomes of the flags of a training command such as run_qa, and of `accelerate launch`. Hearth's own declarations
// of these flags decide. `is_literal` tells whether a word has the value that the
// program will get; values of other words are not checked.
struct OldWord {
  std::string value;
  bool is_literal = true;
};
std::vector<OldFlag> flags_of_command(const std::string& command, std::span<const OldWord> words);
struct OldLaunch {
  std::vector<OldFlag> flags;
  std::size_t target = 0;  // index of the script
};
OldLaunch flags_of_launch(std::span<const OldWord> words);

}  // namespace hearth::migrate
