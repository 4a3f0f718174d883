#pragma once

#include <fmt/format.h>

#include <utility>

#include "hearth/base/error.h"

namespace hearth {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

// The message is formatted only when the check fails.
template <class... Args>
void check(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hearth
