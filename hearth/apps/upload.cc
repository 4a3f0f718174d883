#include "hearth/hub/upload.h"

#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/repository_flags.h"

namespace hearth::apps {

int upload(std::span<const std::string> words) {
  RepositoryFlags flags;
  std::string source = ".";
  hub::UploadOptions options;
  Arguments arguments("hearth upload",
                      "Uploads a folder or a file to the Hub as one commit, and prints the address of the commit. A "
                      "repository that does not exist is created.");
  arguments.positional("NAME", &flags.repository.name, "name on the Hub: OWNER/NAME").required();
  arguments.positional("FOLDER", &source, "folder or file to upload");
  arguments.positional("PATH_IN_REPO", &options.path_in_repo,
                       "where it goes; if not given, the repository's top folder");
  flags.declare(arguments, "upload");
  arguments.add("private", &options.is_private, "create a private repository");
  arguments.add("commit_message", &options.message, "message of the commit");
  arguments.add("revision", &options.revision, "branch; created if it does not exist");
  arguments.examples({"hearth upload me/my-model out", "hearth upload me/my-data data --repo_type dataset --private"});
  if (!parse_or_print_help(arguments, words)) return 0;
  options.patterns = flags.patterns;
  fmt::print("{}\n", hub::upload(flags.repository, source, options, flags.access).url);
  return 0;
}

}  // namespace hearth::apps
