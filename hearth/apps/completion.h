#pragma once

#include <span>
#include <string>
#include <vector>

namespace hearth::apps {

struct Candidate {
  std::string word, meaning;
};

// What the last word of a command line may become; `words` follow the name of the program. Empty: names of files.
std::vector<Candidate> complete(std::span<const std::string> words);

}  // namespace hearth::apps
