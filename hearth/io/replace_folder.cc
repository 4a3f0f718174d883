#include "hearth/io/replace_folder.h"

#include <string>
#include <string_view>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

constexpr std::string_view kPartial = ".partial", kFormer = ".former", kRemoved = ".removed";

std::filesystem::path hidden_beside(const std::filesystem::path& folder, std::string_view suffix) {
  return folder.parent_path() / fmt::format(".{}{}", folder.filename().string(), suffix);
}

void remove_or_warn(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) log_warning("{} could not be removed and stays: {}", folder.string(), error.message());
}

}  // namespace

void replace_folder(const std::filesystem::path& folder,
                    const std::function<void(const std::filesystem::path&)>& write) {
  const std::filesystem::path partial = hidden_beside(folder, kPartial), former = hidden_beside(folder, kFormer);
  bool former_is_aside = false;
  const auto undo = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(partial, ignored);
    if (former_is_aside) std::filesystem::rename(former, folder, ignored);
  };
  try {
    std::filesystem::remove_all(partial);
    io::create_directories(partial);
    write(partial);
    sync_folder(partial);
    if (std::filesystem::exists(folder)) {
      std::filesystem::remove_all(former);
      std::filesystem::rename(folder, former);
      former_is_aside = true;
    }
    std::filesystem::rename(partial, folder);
    sync_folder(folder.parent_path());
  } catch (const std::filesystem::filesystem_error& error) {
    undo();
    fail("{} could not be written: {}", folder.string(), error.code().message());
  } catch (...) {
    undo();
    throw;
  }
  if (former_is_aside) remove_or_warn(former);
}

void remove_folders(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> nameless;
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path hidden = hidden_beside(folder, kRemoved);
    std::error_code error;
    std::filesystem::remove_all(hidden, error);
    std::filesystem::rename(folder, hidden, error);
    if (error) {
      log_warning("{} could not be removed and stays: {}", folder.string(), error.message());
    } else {
      nameless.push_back(hidden);
    }
  }
  if (!nameless.empty()) sync_folder(nameless.front().parent_path());
  for (const std::filesystem::path& folder : nameless) remove_or_warn(folder);
}

void finish_replacements(const std::filesystem::path& parent,
                         const std::function<bool(const std::filesystem::path&)>& belongs) {
  if (!std::filesystem::is_directory(parent)) return;
  const std::vector<std::filesystem::directory_entry> entries(std::filesystem::directory_iterator(parent),
                                                              std::filesystem::directory_iterator{});
  for (const auto& entry : entries) {
    const std::string name = entry.path().stem().string(), suffix = entry.path().extension().string();
    if (!name.starts_with('.') || !belongs(name.substr(1)) || !entry.is_directory()) continue;
    const std::filesystem::path folder = parent / name.substr(1);
    if (suffix == kFormer && !std::filesystem::exists(folder)) {
      std::error_code error;
      std::filesystem::rename(entry.path(), folder, error);
      check(!error, "{} could not be put back as {}: {}", entry.path().string(), folder.string(), error.message());
      log_info("{} was restored: a run had died while replacing it", folder.string());
    } else if (suffix == kFormer || suffix == kPartial || suffix == kRemoved) {
      remove_or_warn(entry.path());
    }
  }
}

}  // namespace hearth::io
