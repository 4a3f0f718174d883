#pragma once

#include <string>

namespace hearth::apps {

// What the user reads about the exception that is being handled, and the program's exit status.
struct Failure {
  std::string sentence;
  int status;
};
Failure current_failure();

}  // namespace hearth::apps
