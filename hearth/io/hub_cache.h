#pragma once

#include <filesystem>
#include <string>

namespace hearth::io {

// Where prepared data is kept between runs.
std::filesystem::path cache_folder();

// What Hugging Face's programs share: HF_HOME, else $XDG_CACHE_HOME/huggingface or ~/.cache/huggingface.
std::filesystem::path hugging_face_home();

// A model's folder: `name` itself where it is one, else the snapshot of a name such as google-bert/bert-base-uncased
// in the local Hub cache (`cache_dir`, else HF_HUB_CACHE, else HF_HOME/hub).
std::filesystem::path find_model(const std::string& name, const std::string& cache_dir, const std::string& revision);

}  // namespace hearth::io
