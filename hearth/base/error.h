#pragma once

#include <stdexcept>
#include <string>

#include "hearth/base/api.h"

namespace hearth {

// Everything that Hearth throws. The message is one sentence for the person at the terminal:
// what is wrong, where, and the way out. What it quotes of files is made printable (text_layout.h).
class HEARTH_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence);
};

// Memory, disk space, threads or descriptors have run out: the same command works where there are more of them.
class HEARTH_API ResourceError : public Error {
 public:
  using Error::Error;
};

}  // namespace hearth
