#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hearth::launch {

// Questions to the person at the terminal, or to what stands at the other end of a pipe.
class Terminal {
 public:
  // Both are file descriptors. Menus are drawn where both are a terminal and they fit it, and are numbered lines
  // elsewhere.
  Terminal(int input, int output);

  // The line that is typed, without the spaces around it; nothing at the end of the input.
  std::optional<std::string> ask(std::string_view question);

  // The index of a choice, by arrow keys, by its number or by the beginning of its name; Enter alone takes the one that
  // is marked. Anything else is answered with `explanation`, and asked again. Nothing at the end of the input.
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
