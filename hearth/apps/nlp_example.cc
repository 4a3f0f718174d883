#include "hearth/apps/command.h"

// examples/nlp_example.cc, which CMakeLists.txt compiles with this name for its main function.
int nlp_example_main(int argc, char** argv);

namespace hearth::apps {

int nlp_example(std::span<const std::string> words) {
  std::vector<std::string> arguments{"nlp_example"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return nlp_example_main(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace hearth::apps
