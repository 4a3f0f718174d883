#pragma once

#include <filesystem>
#include <initializer_list>

namespace hearth::apps {

// Fails if the folder already has one of these files, which a command is about to write.
void check_no_files(const std::filesystem::path& folder, std::initializer_list<const char*> names);

}  // namespace hearth::apps
