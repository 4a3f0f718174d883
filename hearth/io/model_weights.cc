#include "hearth/io/model_weights.h"

#include <system_error>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"

namespace hearth::io {
namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace

ModelWeights ModelWeights::open(const std::filesystem::path& folder) {
  std::error_code ignored;
  check(std::filesystem::is_directory(folder, ignored), "The model folder {} does not exist", folder.string());
  ModelWeights checkpoint;
  checkpoint.folder_ = folder;
  const auto single = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  if (is_there(single)) {
    checkpoint.shards_.push_back(Safetensors::open(single));
    for (const std::string& name : checkpoint.shards_.front().names()) checkpoint.shard_of_.emplace(name, 0);
  } else if (is_there(index)) {
    checkpoint.open_shards(index);
  } else {
    for (const auto* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
      check(!is_there(folder / pickle),
            "{} has its weights in {}, a Python pickle, which Hearth does not read: convert them once, in Python, with "
            "model.save_pretrained(folder, safe_serialization=True)",
            folder.string(), pickle);
    }
    fail("The folder {} has no weights: neither model.safetensors nor model.safetensors.index.json exists",
         folder.string());
  }
  return checkpoint;
}

void ModelWeights::open_shards(const std::filesystem::path& index) {
  const std::string file = index.string();
  const Json json = parse_json_strict(read_file(index), file);
  const auto weight_map = json.find("weight_map");
  check(weight_map != json.end() && weight_map->is_object(), "{} lacks the object \"weight_map\"", file);
  std::map<std::string, std::size_t> opened;
  for (const auto& [name, value] : weight_map->get_ref<const Json::object_t&>()) {
    check(value.is_string(), "{}: the tensor {} must be mapped to the name of a file, found {}", file, excerpt(name),
          excerpt(value));
    const std::string shard = value.get<std::string>();
    check(is_plain_file_name(shard), "{}: the tensor {} is mapped to {}, which is not the name of a file beside it",
          file, excerpt(name), excerpt(shard));
    const auto [place, fresh] = opened.emplace(shard, shards_.size());
    if (fresh) {
      check(is_there(folder_ / shard), "{} lacks the file {}, which {} names for the tensor {}", folder_.string(),
            shard, file, excerpt(name));
      shards_.push_back(Safetensors::open(folder_ / shard));
    }
    check(shards_[place->second].contains(name), "{} does not hold the tensor {}, which {} places there",
          (folder_ / shard).string(), excerpt(name), file);
    shard_of_.emplace(name, place->second);
  }
}

std::vector<std::string> ModelWeights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, shard] : shard_of_) names.push_back(name);
  return names;
}

const Safetensors& ModelWeights::shard_of(std::string_view name) const {
  const auto found = shard_of_.find(name);
  check(found != shard_of_.end(), "The model folder {} has no tensor {}", folder_.string(), excerpt(name));
  return shards_[found->second];
}

const Safetensors::Entry& ModelWeights::entry(std::string_view name) const { return shard_of(name).entry(name); }
Tensor ModelWeights::tensor(std::string_view name) const { return shard_of(name).tensor(name); }
std::string ModelWeights::file_of(std::string_view name) const { return shard_of(name).path().string(); }

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
