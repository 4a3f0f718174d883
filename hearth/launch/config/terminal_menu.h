#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hearth::launch {

// Asks questions, of a person at a terminal or through pipes.
class Terminal {
 public:
  // `input` and `output` are file descriptors. Menus are drawn if both are terminals and the menu fits the screen;
  // otherwise they are numbered lines.
  Terminal(int input, int output);

  // Returns the line that is typed, without the spaces around it; nothing at the end of the input.
  std::optional<std::string> ask(std::string_view question);

  // Returns the index of the choice, made by arrow keys, by its number or by the first letters of its name; Enter alone
  // takes the marked choice. Any other answer prints `explanation` and asks again. Nothing at the end of the input.
  std::optional<std::size_t> choose(std::string_view question, std::span<const std::string> choices, std::size_t marked,
                                    std::string_view explanation);

  void print(std::string_view text);

 private:
  std::optional<char> read_byte();
  std::optional<std::string> read_line();
  std::optional<std::size_t> choose_from_lines(std::string_view question, std::span<const std::string> choices,
                                               std::size_t marked, std::string_view explanation);
  std::optional<std::size_t> choose_by_keys(std::string_view question, std::span<const std::string> choices,
                                            std::size_t marked, std::string_view explanation);

  int input_, output_;
  bool is_terminal_, echoes_;
};

}  // namespace hearth::launch
