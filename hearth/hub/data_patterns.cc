#include "hearth/hub/data_patterns.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <span>

#include "hearth/base/split.h"

namespace hearth::hub {
namespace {

constexpr std::array<std::string_view, 7> kFormats{".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"};
constexpr std::array<std::string_view, 2> kCompressions{".gz", ".zst"};
// Files of these names describe a data set and are not part of it.
constexpr std::array<std::string_view, 5> kDescriptions{"README.md", "config.json", "dataset_info.json",
                                                        "dataset_infos.json", "dataset_dict.json"};

struct SplitWords {
  const char* split;
  std::array<const char*, 4> words;
};
constexpr std::array kSplitWords{SplitWords{"train", {"train", "training"}},
                                 SplitWords{"validation", {"validation", "valid", "dev", "val"}},
                                 SplitWords{"test", {"test", "testing", "eval", "evaluation"}}};
constexpr std::string_view kBetween = "[-._ 0-9]";  // around a word in a name
constexpr const char* kSharded = "data/*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]*.*";

using Parts = std::vector<std::string>;

Parts parts_of(std::string_view path) {
  Parts parts = split(path, '/');
  // Two stars after two stars mean nothing more, and would take exponential time.
  const auto [end, last] =
      std::ranges::unique(parts, [](const auto& a, const auto& b) { return a == "**" && b == "**"; });
  parts.erase(end, last);
  return parts;
}

bool matches(std::span<const std::string> pattern, std::span<const std::string> path) {
  if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
  const std::string& name = path.front();
  const bool is_folder = path.size() > 1;
  if (pattern.front() == "**") {
    const bool skips = !name.starts_with('.') && !(is_folder && name.starts_with("__"));
    const bool takes = skips && (is_folder ? matches(pattern, path.subspan(1)) : pattern.size() == 1);
    return takes || matches(pattern.subspan(1), path);
  }
  if (is_folder && name.starts_with("__") && !pattern.front().starts_with("__")) return false;
  return ::fnmatch(pattern.front().c_str(), name.c_str(), FNM_PERIOD) == 0 &&
         matches(pattern.subspan(1), path.subspan(1));
}

std::string format_of(std::string_view name) {
  for (const std::string_view ending : kCompressions)
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  const auto found = std::ranges::find_if(kFormats, [&](std::string_view ending) { return name.ends_with(ending); });
  return found == kFormats.end() ? "" : std::string(*found);
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

SplitFiles sharded_splits(const std::vector<std::string>& files) {
  SplitFiles splits;
  for (const std::string& file : files)
    if (matches_path(kSharded, file)) {
      const std::string_view name = base_name(file);
      splits[std::string(name.substr(0, name.rfind("-of-") - 6))].push_back(file);
    }
  return splits;
}

// `patterns` have {0} for a word and {1} for what may stand around it.
SplitFiles splits_by_words(const std::vector<std::string>& files, std::span<const char* const> patterns) {
  SplitFiles splits;
  for (const auto& [split, words] : kSplitWords)
    for (const std::string& file : files) {
      const bool matches_one = std::ranges::any_of(words, [&](const char* word) {
        return word != nullptr && std::ranges::any_of(patterns, [&](const char* pattern) {
                 return matches_path(fmt::format(fmt::runtime(pattern), word, kBetween), file);
               });
      });
      if (matches_one) splits[split].push_back(file);
    }
  return splits;
}

}  // namespace

bool matches_path(std::string_view pattern, std::string_view path) {
  return matches(parts_of(pattern), parts_of(path));
}

std::vector<std::string> data_files_of(const std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::ranges::copy_if(files, std::back_inserter(found), [](const std::string& file) {
    return !format_of(file).empty() && std::ranges::find(kDescriptions, base_name(file)) == kDescriptions.end();
  });
  std::ranges::sort(found);
  return found;
}

SplitFiles splits_by_name(const std::vector<std::string>& files) {
  constexpr std::array kFolders{"**/{0}/**", "**/{0}{1}*/**", "**/*{1}{0}/**", "**/*{1}{0}{1}*/**"};
  constexpr std::array kNames{"**/{0}{1}*", "**/*{1}{0}{1}*"};
  if (SplitFiles splits = sharded_splits(files); !splits.empty()) return splits;
  if (SplitFiles splits = splits_by_words(files, kFolders); !splits.empty()) return splits;
  if (SplitFiles splits = splits_by_words(files, kNames); !splits.empty()) return splits;
  SplitFiles all;
  for (const std::string& file : files)
    if (matches_path("**", file)) all["train"].push_back(file);
  return all;
}

void keep_one_format(SplitFiles& splits) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [split, files] : splits)
    for (const std::string& file : files) ++counts[format_of(file)];
  if (counts.size() < 2) return;
  const auto count = [](const auto& item) { return item.second; };
  const std::string kept = std::ranges::max_element(counts, {}, count)->first;
  for (auto& [split, files] : splits)
    std::erase_if(files, [&](const std::string& file) { return format_of(file) != kept; });
  std::erase_if(splits, [](const auto& item) { return item.second.empty(); });
}

}  // namespace hearth::hub
