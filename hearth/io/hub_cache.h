#pragma once

#include <filesystem>
#include <string>

namespace hearth::io {

// Where Hearth keeps prepared data between runs.
std::filesystem::path cache_folder();

// The folder that Hugging Face's programs share: HF_HOME, else $XDG_CACHE_HOME/huggingface or ~/.cache/huggingface.
std::filesystem::path hugging_face_home();

// The folder of a model: `name` itself where that is a folder, else the snapshot of a name such as
// google-bert/bert-base-uncased in the local Hub cache. The cache is `cache_dir`, else the folder that transformers
// uses. Names from before the Hub's organisations, such as bert-base-uncased, find the model under its present name.
std::filesystem::path find_model(const std::string& name, const std::string& cache_dir, const std::string& revision);

}  // namespace hearth::io
