#include "hearth/hub/model.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"
#include "hearth/hub/http.h"
#include "hearth/hub/snapshot.h"

namespace hearth::hub {
namespace {

using Names = Selection::Names;

constexpr const char* kConfig = "config.json";
// Of every kind of tokenizer, those of sentence-transformers' folders, and the settings that Hearth leaves beside a
// model.
constexpr std::array kTokenizerFiles{"tokenizer.json",
                                     "tokenizer_config.json",
                                     "special_tokens_map.json",
                                     "added_tokens.json",
                                     "vocab.txt",
                                     "vocab.json",
                                     "merges.txt",
                                     "spiece.model",
                                     "tokenizer.model",
                                     "sentencepiece.bpe.model"};
constexpr std::array kVocabularies{"tokenizer.json", "vocab.txt",       "vocab.json",
                                   "spiece.model",   "tokenizer.model", "sentencepiece.bpe.model"};
constexpr std::array kOtherFiles{
    "training_args.json",        "modules.json",        "config_sentence_transformers.json",
    "sentence_bert_config.json", "[0-9]_*/config.json", "[0-9]_*/model.safetensors"};

// The forms of weights, the best first: one file, or an index with its shards.
struct WeightForm {
  const char *file, *shards;
};
constexpr std::array kWeightForms{
    WeightForm{"model.safetensors", nullptr}, WeightForm{"model.safetensors.index.json", "model-*-of-*.safetensors"},
    WeightForm{"pytorch_model.bin", nullptr}, WeightForm{"pytorch_model.bin.index.json", "pytorch_model-*-of-*.bin"}};

bool has(const Names& files, std::string_view name) { return std::ranges::find(files, name) != files.end(); }

void add_matching(const Names& files, const char* pattern, Names& to) {
  for (const std::string& file : files)
    if (::fnmatch(pattern, file.c_str(), FNM_PATHNAME) == 0) to.push_back(file);
}

// Empty where the files have no weights in a form that can be read.
Names weights_of(const Names& files) {
  Names found;
  for (const WeightForm& form : kWeightForms) {
    if (!has(files, form.file)) continue;
    found.emplace_back(form.file);
    if (form.shards != nullptr) add_matching(files, form.shards, found);
    break;
  }
  return found;
}

// Whether all shards are there that the names of some announce: model-00001-of-00003.safetensors.
bool has_all_weights(const Names& files) {
  const Names found = weights_of(files);
  if (found.size() == 1) return !found.front().ends_with(".index.json");
  if (found.empty()) return false;
  const std::string& shard = found.back();
  const auto announced = whole_number<std::size_t>(shard.substr(shard.find("-of-") + 4, 5));
  return announced == found.size() - 1;
}

Names choose(const std::string& name, ModelParts parts, const Names& files) {
  check(has(files, kConfig), "{} has no config.json: it is not a model of transformers", name);
  Names chosen{kConfig};
  if (parts == ModelParts::config) return chosen;
  for (const char* file : kTokenizerFiles)
    if (has(files, file)) chosen.emplace_back(file);
  if (parts == ModelParts::tokenizer) return chosen;
  for (const char* pattern : kOtherFiles) add_matching(files, pattern, chosen);
  const Names weights = weights_of(files);
  check(!weights.empty(), "{} has neither model.safetensors nor pytorch_model.bin: its weights have another form",
        name);
  chosen.insert(chosen.end(), weights.begin(), weights.end());
  return chosen;
}

bool is_enough(ModelParts parts, const Names& cached) {
  if (!has(cached, kConfig)) return false;
  if (parts == ModelParts::config) return true;
  const bool has_vocabulary = std::ranges::any_of(kVocabularies, [&](const char* file) { return has(cached, file); });
  return has_vocabulary && (parts == ModelParts::tokenizer || has_all_weights(cached));
}

}  // namespace

std::vector<std::string> model_file_patterns() {
  std::vector<std::string> patterns{kConfig};
  patterns.insert(patterns.end(), kTokenizerFiles.begin(), kTokenizerFiles.end());
  patterns.insert(patterns.end(), kOtherFiles.begin(), kOtherFiles.end());
  for (const WeightForm& form : kWeightForms) {
    patterns.emplace_back(form.file);
    if (form.shards != nullptr) patterns.emplace_back(form.shards);
  }
  return patterns;
}

std::filesystem::path find_model(const std::string& name, ModelParts parts, const Access& access,
                                 const std::string& revision) {
  if (std::filesystem::is_directory(name)) return name;
  check(!std::filesystem::exists(name), "{} is a file: give the folder of a model", name);
  check(is_repository_name(name),
        "{} is not a folder: give the folder of a model, or a name such as "
        "google-bert/bert-base-uncased",
        name);
  Selection selection;
  selection.choose = [&](const Names& files) { return choose(name, parts, files); };
  selection.is_enough = [parts](const Names& cached) { return is_enough(parts, cached); };
  if (parts != ModelParts::config) selection.expected.assign(kTokenizerFiles.begin(), kTokenizerFiles.end());
  try {
    return get_snapshot({Repository::Kind::model, name}, revision, selection, access).folder;
  } catch (const NetworkError& error) {
    throw NetworkError(fmt::format(
        "there is no folder {}, and the model of that name could not be fetched from the Hub: {}", name, error.what()));
  }
}

}  // namespace hearth::hub
