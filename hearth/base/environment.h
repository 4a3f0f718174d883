#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hearth {

struct EnvironmentVariable {
  const char* name;
  std::string_view meaning;
};

// Every variable that Hearth reads, and those of its libraries that `hearth env` shows. No other code reads the
// environment.
std::span<const EnvironmentVariable> environment_variables();

// The value of one of environment_variables(); empty if it is not set.
std::string environment(std::string_view name);

// A path that begins with "~/" as the shell would give it.
std::string with_home(std::string path);

}  // namespace hearth
