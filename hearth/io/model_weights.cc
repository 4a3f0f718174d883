#include "hearth/io/model_weights.h"

#include <memory>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/torch_file.h"

namespace hearth::io {
namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

StoredWeights open_safetensors(const std::filesystem::path& path) {
  const auto file = std::make_shared<const Safetensors>(Safetensors::open(path));
  StoredWeights weights;
  for (const std::string& name : file->names())
    weights[name] = {path, file->entry(name).shape, [file, name] { return file->tensor(name); }};
  return weights;
}

StoredWeights open_torch(const std::filesystem::path& path) {
  StoredWeights weights;
  for (const auto& [name, tensor] : read_state_dict(path)) {
    const std::string where = fmt::format("{}: the tensor {}", path.string(), excerpt(name));
    weights[name] = {path, tensor.shape(), [tensor = tensor, where] { return tensor.read(where); }};
  }
  return weights;
}

using Open = StoredWeights (*)(const std::filesystem::path& path);

// The weights that an index maps to files beside it.
StoredWeights open_shards(const std::filesystem::path& index, Open open) {
  const std::string file = index.string();
  const std::filesystem::path folder = index.parent_path();
  const Json json = parse_json_strict(read_file(index), file);
  const auto weight_map = json.find("weight_map");
  check(weight_map != json.end() && weight_map->is_object(), "{} lacks the object \"weight_map\"", file);
  std::map<std::string, StoredWeights> opened;
  StoredWeights weights;
  for (const auto& [name, value] : weight_map->get_ref<const Json::object_t&>()) {
    check(value.is_string(), "{}: the tensor {} must be mapped to the name of a file, found {}", file, excerpt(name),
          excerpt(value));
    const std::string shard = value.get<std::string>();
    check(is_plain_file_name(shard), "{}: the tensor {} is mapped to {}, which is not the name of a file beside it",
          file, excerpt(name), excerpt(shard));
    const auto [place, fresh] = opened.try_emplace(shard);
    if (fresh) {
      check(is_there(folder / shard), "{} lacks the file {}, which {} names for the tensor {}", folder.string(), shard,
            file, excerpt(name));
      place->second = open(folder / shard);
    }
    const auto found = place->second.find(name);
    check(found != place->second.end(), "{} does not hold the tensor {}, which {} places there",
          (folder / shard).string(), excerpt(name), file);
    weights.insert(*found);
  }
  return weights;
}

StoredWeights open_weights(const std::filesystem::path& folder) {
  for (const auto& [name, open] :
       {std::pair<const char*, Open>{"model.safetensors", open_safetensors}, {"pytorch_model.bin", open_torch}}) {
    if (is_there(folder / name)) return open(folder / name);
    const std::filesystem::path index = folder / (std::string(name) + ".index.json");
    if (is_there(index)) return open_shards(index, open);
  }
  fail(
      "The folder {} has no weights: neither model.safetensors nor pytorch_model.bin exists, nor an .index.json of one",
      folder.string());
}

}  // namespace

ModelWeights ModelWeights::open(const std::filesystem::path& folder) {
  std::error_code ignored;
  check(std::filesystem::is_directory(folder, ignored), "The model folder {} does not exist", folder.string());
  ModelWeights weights;
  weights.folder_ = folder;
  weights.weights_ = open_weights(folder);
  return weights;
}

std::vector<std::string> ModelWeights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights_) names.push_back(name);
  return names;
}

const StoredWeight& ModelWeights::weight(std::string_view name) const {
  const auto found = weights_.find(name);
  check(found != weights_.end(), "The model folder {} has no tensor {}", folder_.string(), excerpt(name));
  return found->second;
}

std::optional<std::string> ModelWeights::stored_name(const std::string& parameter) const {
  if (contains(parameter)) return parameter;
  for (const auto& [now, then] :
       {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}}) {
    if (!parameter.ends_with(now)) continue;
    const std::string old = parameter.substr(0, parameter.size() - std::string_view(now).size()) + then;
    if (contains(old)) return old;
  }
  return std::nullopt;
}

}  // namespace hearth::io
