#include "hearth/apps/repository_flags.h"

#include <fmt/format.h>

namespace hearth::apps {

void RepositoryFlags::declare(Arguments& arguments, const std::string& verb) {
  arguments.add("repo_type", choice(&repository.kind), "kind of repository");
  arguments.add("include", &patterns.include, fmt::format("shell patterns of files to {}: '*.json' 'data/*'", verb));
  arguments.add("exclude", &patterns.exclude, "shell patterns of files to leave out");
  arguments.add("token", &access.token, "token for the Hub; if not given, HF_TOKEN or that of `hf auth login`")
      .secret();
  arguments.add("quiet", &access.quiet, "no progress bar");
}

}  // namespace hearth::apps
