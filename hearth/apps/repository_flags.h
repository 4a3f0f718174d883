#pragma once

#include <string>

#include "hearth/base/arguments.h"
#include "hearth/hub/repository_download.h"

namespace hearth::apps {

// The flags that `hearth download` and `hearth upload` share.
struct RepositoryFlags {
  hub::Repository repository;
  hub::FilePatterns patterns;
  hub::Access access;

  void declare(Arguments& arguments, const std::string& verb);  // "download"; after the positional ones
};

}  // namespace hearth::apps
