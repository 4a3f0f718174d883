#pragma once

#include <filesystem>

namespace hearth::io {

// Where Hearth keeps prepared data between runs.
std::filesystem::path cache_folder();

// The folder that Hugging Face's programs share: HF_HOME, else $XDG_CACHE_HOME/huggingface or ~/.cache/huggingface.
std::filesystem::path hugging_face_home();

}  // namespace hearth::io
