#include "hearth/hub/dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"
#include "hearth/base/whole_number.h"
#include "hearth/hub/client.h"
#include "hearth/hub/data_patterns.h"
#include "hearth/hub/snapshot.h"
#include "hearth/io/file.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr const char* kCard = "README.md";
constexpr const char* kConverted = "refs/convert/parquet";

bool has(const Names& files, std::string_view name) { return std::ranges::find(files, name) != files.end(); }

[[noreturn]] void fail_config(const DatasetChoice& choice, const Names& known) {
  if (choice.config.empty())
    fail("the data set {} has several configurations: choose one of {} with --dataset_config_name", choice.name,
         fmt::join(known, ", "));
  fail("the data set {} has no configuration {}; it has {}{}", choice.name, choice.config, fmt::join(known, ", "),
       did_you_mean(nearest_name(choice.config, known)));
}

// The configuration's name among those that there are.
std::string chosen_config(const DatasetChoice& choice, const Names& known, const std::string& default_config) {
  if (!choice.config.empty()) {
    if (!has(known, choice.config)) fail_config(choice, known);
    return choice.config;
  }
  if (known.size() == 1) return known.front();
  if (default_config.empty()) fail_config(choice, known);
  return default_config;
}

Names below(const Names& files, const std::string& folder) {
  Names found;
  std::ranges::copy_if(files, std::back_inserter(found),
                       [&](const auto& file) { return file.starts_with(folder + "/"); });
  return found;
}

SplitFiles splits_below(const Names& files, const std::string& folder) {
  Names inner;
  for (const std::string& file : below(files, folder)) inner.push_back(file.substr(folder.size() + 1));
  SplitFiles splits = splits_by_name(inner);
  for (auto& [split, names] : splits)
    for (std::string& name : names) name = folder + "/" + name;
  return splits;
}

SplitFiles splits_of(const DatasetConfig& config, const Names& files) {
  std::string folder = config.data_dir;
  while (folder.ends_with('/')) folder.pop_back();
  if (config.splits.empty()) return folder.empty() ? splits_by_name(files) : splits_below(files, folder);
  SplitFiles splits;
  for (const DatasetConfig::Split& split : config.splits)
    for (const std::string& pattern : split.patterns) {
      const std::string whole = folder.empty() ? pattern : folder + "/" + pattern;
      for (const std::string& file : files)
        if (matches_path(whole, file) && !has(splits[split.name], file)) splits[split.name].push_back(file);
    }
  std::erase_if(splits, [](const auto& item) { return item.second.empty(); });
  return splits;
}

struct Resolved {
  std::string config;
  SplitFiles splits;

  void keep(std::span<const std::string> needed) {
    if (needed.empty()) return;
    std::erase_if(splits, [&](const auto& item) { return std::ranges::find(needed, item.first) == needed.end(); });
  }
};

Resolved resolve(const DatasetChoice& choice, const DatasetCard& card, const Names& files) {
  Resolved result;
  if (!card.configs.empty()) {
    Names known;
    std::string default_config;
    for (const DatasetConfig& config : card.configs) {
      known.push_back(config.name);
      if (config.is_default) default_config = config.name;
    }
    result.config = chosen_config(choice, known, default_config);
    const auto config = std::ranges::find(card.configs, result.config, &DatasetConfig::name);
    result.splits = splits_of(*config, files);
  } else if (!choice.config.empty() && !below(files, choice.config).empty()) {
    result = {choice.config, splits_below(files, choice.config)};
  } else {
    if (!choice.config.empty() && choice.config != "default") fail_config(choice, {"default"});
    result = {"default", splits_by_name(files)};
  }
  keep_one_format(result.splits);
  return result;
}

// The conversion has CONFIG/SPLIT/0000.parquet.
Resolved resolve_converted(const DatasetChoice& choice, const Names& files) {
  std::set<std::string> configs;
  for (const std::string& file : files)
    if (const std::size_t slash = file.find('/'); slash != file.npos) configs.insert(file.substr(0, slash));
  const Names known(configs.begin(), configs.end());
  Resolved result{chosen_config(choice, known, configs.contains("default") ? "default" : ""), {}};
  for (const std::string& file : below(files, result.config)) {
    const std::string inner = file.substr(result.config.size() + 1);
    if (const std::size_t slash = inner.find('/'); slash != inner.npos)
      result.splits[inner.substr(0, slash)].push_back(file);
  }
  return result;
}

// Names such as train-00000-of-00003.parquet announce how many there are; a cache that another program filled may lack
// some.
void check_shards(const Names& files, const std::string& split, const DatasetChoice& choice) {
  for (const std::string& file : files) {
    const std::size_t of = file.rfind("-of-");
    if (of == file.npos || of < 5) continue;
    const auto announced = whole_number<std::size_t>(file.substr(of + 4, 5));
    if (!announced || *announced == 0) continue;
    const std::string prefix = file.substr(0, of - 5);
    const auto count = std::ranges::count_if(files, [&](const auto& other) { return other.starts_with(prefix); });
    check(static_cast<std::size_t>(count) >= *announced,
          "only {} of the {} files of split {} of {} are in the cache: download the rest with `hearth download {} "
          "--repo_type dataset`",
          count, *announced, split, choice.name, choice.name);
  }
}

DatasetFiles local_files(const fs::path& folder, const Resolved& resolved, Names names, const DatasetChoice& choice,
                         const DatasetCard& card) {
  DatasetFiles result;
  result.names = std::move(names);
  for (const auto& [split, files] : resolved.splits) {
    check_shards(files, split, choice);
    for (const std::string& file : files) result.splits[split].push_back(folder / file);
  }
  if (const auto classes = card.class_names.find(resolved.config); classes != card.class_names.end())
    result.class_names = classes->second;
  return result;
}

DatasetCard card_in(const fs::path& folder) {
  const fs::path file = folder / kCard;
  return fs::is_regular_file(file) ? parse_dataset_card(io::read_file(file), file.string()) : DatasetCard();
}

Names split_names(const Resolved& resolved) {
  Names names;
  for (const auto& [split, files] : resolved.splits) names.push_back(split);
  return names;
}

DatasetFiles in_folder(const DatasetChoice& choice, std::span<const std::string> needed) {
  const fs::path folder = choice.name;
  Names files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder).generic_string());
  const DatasetCard card = card_in(folder);
  Resolved resolved = resolve(choice, card, data_files_of(files));
  Names names = split_names(resolved);
  resolved.keep(needed);
  return local_files(folder, resolved, std::move(names), choice, card);
}

// A data set of the Hub at one revision.
class HubDataset {
 public:
  HubDataset(const DatasetChoice& choice, const Access& access)
      : choice_(choice), access_(access), repository_{Repository::Kind::dataset, choice.name} {}

  DatasetFiles find(std::span<const std::string> needed) const {
    const Snapshot described =
        get(choice_.revision, [](const Names& files) { return has(files, kCard) ? Names{kCard} : Names{}; });
    const DatasetCard card = card_in(described.folder);
    const Names files = data_files_of(described.files);
    const bool has_script = has(described.files, script_name());
    if (!files.empty() && (!card.configs.empty() || !has_script))
      return fetch(described.commit, resolve(choice_, card, files), needed, card);
    check(choice_.revision == kMainRevision, "revision {} of the data set {} has no data files", choice_.revision,
          choice_.name);
    return find_converted(needed, card);
  }

 private:
  Snapshot get(const std::string& revision, std::function<Names(const Names&)> choose) const {
    Selection selection;
    selection.choose = std::move(choose);
    return get_snapshot(repository_, revision, selection, access_);
  }

  std::string script_name() const { return choice_.name.substr(choice_.name.rfind('/') + 1) + ".py"; }

  DatasetFiles find_converted(std::span<const std::string> needed, const DatasetCard& card) const {
    Snapshot converted;
    try {
      converted = get(kConverted, [](const Names&) { return Names{}; });
    } catch (const RefusedError& error) {
      if (error.code() != "RevisionNotFound") throw;
      fail(
          "the data set {} has no files of records (Parquet, JSON lines, CSV), and the Hub has not converted it: give "
          "your own files with --train_file and --validation_file",
          choice_.name);
    }
    return fetch(converted.commit, resolve_converted(choice_, data_files_of(converted.files)), needed, card);
  }

  DatasetFiles fetch(const std::string& commit, Resolved resolved, std::span<const std::string> needed,
                     const DatasetCard& card) const {
    check(!resolved.splits.empty(), "the data set {}, configuration {}, has no files of records", choice_.name,
          resolved.config);
    Names names = split_names(resolved);
    resolved.keep(needed);
    Names wanted;
    for (const auto& [split, files] : resolved.splits) wanted.insert(wanted.end(), files.begin(), files.end());
    const Snapshot snapshot = get(commit, [&](const Names&) { return wanted; });
    return local_files(snapshot.folder, resolved, std::move(names), choice_, card);
  }

  const DatasetChoice& choice_;
  const Access& access_;
  const Repository repository_;
};

}  // namespace

DatasetFiles find_dataset(const DatasetChoice& choice, std::span<const std::string> needed, const Access& access) {
  if (fs::is_directory(choice.name)) return in_folder(choice, needed);
  check(is_repository_name(choice.name), "{} is neither a folder nor the name of a data set on the Hub", choice.name);
  return HubDataset(choice, access).find(needed);
}

}  // namespace hearth::hub
