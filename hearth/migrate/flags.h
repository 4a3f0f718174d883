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

struct OldWord {
  std::string value;
  bool is_literal = true;  // the program gets this value; other values are not checked
};

// What becomes of the flags of a training command such as run_qa, by Hearth's own declarations of them.
std::vector<OldFlag> flags_of_command(const std::string& command, std::span<const OldWord> words);

// The same for the words after `accelerate launch`.
struct OldLaunch {
  std::vector<OldFlag> flags;
  std::size_t target = 0;  // index of the script
};
OldLaunch flags_of_launch(std::span<const OldWord> words);

}  // namespace hearth::migrate
