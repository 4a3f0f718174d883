#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/hub/repository_download.h"

namespace hearth::apps {

int download(std::span<const std::string> words) {
  hub::Repository repository;
  std::string kind = "model", revision(hub::kMainRevision);
  std::vector<std::string> files;
  hub::FilePatterns patterns;
  hub::Access access;
  Arguments arguments("hearth download",
                      "Downloads a model or a data set from the Hub into the cache that all of Hugging Face's programs "
                      "share, and prints its folder.");
  arguments.positional("NAME", &repository.name, "name on the Hub, such as google-bert/bert-base-uncased").required();
  arguments.positional("FILES", &files, "files to download; all if none is named");
  arguments.add("repo_type", &kind, "kind of repository").choices({"model", "dataset"});
  arguments.add("revision", &revision, "branch, tag or commit");
  arguments.add("include", &patterns.include, "shell patterns of files to download: '*.json' 'data/*'");
  arguments.add("exclude", &patterns.exclude, "shell patterns of files to leave out");
  arguments.add("cache_dir", &access.cache_dir, "cache folder, if not the one that huggingface_hub uses");
  arguments.add("token", &access.token, "token for the Hub; if not given, HF_TOKEN or that of `hf auth login`")
      .secret();
  arguments.add("quiet", &access.quiet, "no progress bar");
  arguments.examples({"hearth download google-bert/bert-base-uncased",
                      "hearth download rajpurkar/squad --repo_type dataset",
                      "hearth download roberta-base --include '*.json' model.safetensors"});
  if (!parse_or_print_help(arguments, words)) return 0;
  repository.kind = kind == "model" ? hub::Repository::Kind::model : hub::Repository::Kind::dataset;
  patterns.include.insert(patterns.include.end(), files.begin(), files.end());
  fmt::print("{}\n", hub::download_repository(repository, revision, patterns, access).string());
  return 0;
}

}  // namespace hearth::apps
