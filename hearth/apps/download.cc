#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/repository_flags.h"

namespace hearth::apps {

int download(std::span<const std::string> words) {
  RepositoryFlags flags;
  std::string revision(hub::kMainRevision);
  std::vector<std::string> files;
  Arguments arguments("hearth download",
                      "Downloads a model or a data set from the Hub into the cache that all of Hugging Face's programs "
                      "share, and prints its folder.");
  arguments.positional("NAME", &flags.repository.name, "name on the Hub, such as google-bert/bert-base-uncased")
      .required();
  arguments.positional("FILES", &files, "files to download; all if none is named");
  flags.declare(arguments, "download");
  arguments.add("revision", &revision, "branch, tag or commit");
  arguments.add("cache_dir", &flags.access.cache_dir, "cache folder, if not the one that huggingface_hub uses");
  arguments.examples({"hearth download google-bert/bert-base-uncased",
                      "hearth download rajpurkar/squad --repo_type dataset",
                      "hearth download roberta-base --include '*.json' model.safetensors"});
  if (!parse_or_print_help(arguments, words)) return 0;
  flags.patterns.include.insert(flags.patterns.include.end(), files.begin(), files.end());
  fmt::print("{}\n", hub::download_repository(flags.repository, revision, flags.patterns, flags.access).string());
  return 0;
}

}  // namespace hearth::apps
