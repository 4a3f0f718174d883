#include "hearth/hub/upload.h"

#include <fmt/format.h>

#include "hearth/apps/command.h"

namespace hearth::apps {

int upload(std::span<const std::string> words) {
  hub::Repository repository;
  std::string kind = "model", source = ".";
  hub::UploadOptions options;
  hub::Access access;
  Arguments arguments("hearth upload",
                      "Uploads a folder or a file to the Hub as one commit, and prints the address of the commit. A "
                      "repository that does not exist is created.");
  arguments.positional("NAME", &repository.name, "name on the Hub: OWNER/NAME").required();
  arguments.positional("FOLDER", &source, "folder or file to upload");
  arguments.positional("PATH_IN_REPO", &options.path_in_repo,
                       "where it goes; if not given, the repository's top folder");
  arguments.add("repo_type", &kind, "kind of repository").choices({"model", "dataset"});
  arguments.add("private", &options.is_private, "create a private repository");
  arguments.add("commit_message", &options.message, "message of the commit");
  arguments.add("revision", &options.revision, "branch; created if it does not exist");
  arguments.add("include", &options.patterns.include, "shell patterns of files to upload");
  arguments.add("exclude", &options.patterns.exclude, "shell patterns of files to leave out");
  arguments.add("token", &access.token, "token for the Hub; if not given, HF_TOKEN or that of `hf auth login`")
      .secret();
  arguments.add("quiet", &access.quiet, "no progress bar");
  arguments.examples({"hearth upload me/my-model out", "hearth upload me/my-data data --repo_type dataset --private"});
  if (!parse_or_print_help(arguments, words)) return 0;
  repository.kind = kind == "model" ? hub::Repository::Kind::model : hub::Repository::Kind::dataset;
  fmt::print("{}\n", hub::upload(std::move(repository), source, options, access).url);
  return 0;
}

}  // namespace hearth::apps
