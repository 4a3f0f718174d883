#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/migrate/flags.h"

namespace hearth::migrate {

// Launchers whose flags differ from those of `hearth launch`.
enum class OldLauncher { torchrun, ipexrun };

// The launcher that `python -m MODULE` is.
std::optional<OldLauncher> launcher_of_module(std::string_view module);

struct NewLaunch {
  std::vector<std::string> words;    // flags of `hearth launch`, as they are typed in a shell
  std::size_t target = 0;            // index of the script among the old words
  std::vector<std::string> remarks;  // on what was left out
  bool is_complete = true;
};

// `words` follow the launcher; `typed` are the same words as they were typed.
NewLaunch translate_launcher(OldLauncher launcher, std::span<const OldWord> words, std::span<const std::string> typed);

}  // namespace hearth::migrate
