#include "hearth/data/cache.h"

#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/io/json.h"
#include "hearth/io/user_folders.h"

namespace hearth::apps {
namespace {

std::string mib(std::uintmax_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

}  // namespace

int cache(std::span<const std::string> words) {
  bool clear = false, json = false;
  Arguments arguments("hearth cache", "Shows how much prepared data the cache holds, or removes it.");
  arguments.add("clear", &clear, "remove everything; the next run prepares its data again");
  arguments.add("json", &json, "print JSON");
  arguments.examples({"hearth cache", "hearth cache --clear", "hearth cache --json"});
  if (!parse_or_print_help(arguments, words, json)) return 0;
  const data::Cache features(io::cache_folder() / "features");
  const std::vector<data::Cache::File> files = features.files();
  std::uintmax_t bytes = 0;
  for (const data::Cache::File& file : files) bytes += file.bytes;
  if (clear) features.clear();
  if (json) {
    const io::Json result{{"folder", features.folder().string()},
                          {"files", files.size()},
                          {"bytes", bytes},
                          {"limit_bytes", features.limit()},
                          {"removed", clear}};
    fmt::print("{}\n", io::dump_json(result, 2));
    return 0;
  }
  fmt::print("{}{}: {} file{}, {} (at most {}, HEARTH_CACHE_LIMIT)\n", clear ? "removed from " : "",
             features.folder().string(), files.size(), files.size() == 1 ? "" : "s", mib(bytes), mib(features.limit()));
  return 0;
}

}  // namespace hearth::apps
