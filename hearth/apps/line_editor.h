#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

struct editline;  // libedit's
struct history;

namespace hearth::apps {

// Reads lines from the terminal on standard input, with editing keys and a history that the arrow keys walk through.
// Prompt and echo go to standard error, so that standard output holds results alone.
class LineEditor {
 public:
  // The history is loaded from the file and saved to it after every line; an empty path keeps it in memory.
  LineEditor(std::string prompt, std::filesystem::path history_file);
  LineEditor(const LineEditor&) = delete;  // libedit keeps the address of the prompt
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line without its end, nullopt at Ctrl-D.
  std::optional<std::string> read();

 private:
  std::string prompt_;
  std::filesystem::path history_file_;
  std::unique_ptr<history, void (*)(history*)> history_;
  std::unique_ptr<editline, void (*)(editline*)> editor_;
};

// Where lines come from a terminal that LineEditor can use.
bool on_terminal();

// hearth/NAME in the user's folder for state, XDG_STATE_HOME or ~/.local/state; empty where there is no home.
std::filesystem::path state_file(const std::string& name);

}  // namespace hearth::apps
