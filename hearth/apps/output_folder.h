#pragma once

#include <filesystem>
#include <initializer_list>

namespace hearth::apps {

// Before a command writes these files into a folder: an error where one is there.
void check_no_files(const std::filesystem::path& folder, std::initializer_list<const char*> names);

}  // namespace hearth::apps
