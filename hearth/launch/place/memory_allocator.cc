#include "hearth/launch/place/memory_allocator.h"

#include <array>
#include <filesystem>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"

namespace hearth::launch {
namespace {

namespace fs = std::filesystem;

struct Allocator {
  MemoryAllocator choice;
  std::array<const char*, 3> files;
  std::string_view package;
};

constexpr std::array kAllocators{
    Allocator{MemoryAllocator::tcmalloc,
              {"libtcmalloc.so", "libtcmalloc.so.4", "libtcmalloc_minimal.so.4"},
              "libtcmalloc-minimal4"},
    Allocator{MemoryAllocator::jemalloc, {"libjemalloc.so", "libjemalloc.so.2", "libjemalloc.so.1"}, "libjemalloc2"}};

std::optional<fs::path> find_library(const Allocator& allocator) {
  std::vector<fs::path> folders;
  if (const std::string conda = environment("CONDA_PREFIX"); !conda.empty()) folders.push_back(fs::path(conda) / "lib");
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(folder);
  for (const fs::path& folder : folders)
    for (const char* file : allocator.files)
      if (std::error_code ignored; fs::exists(folder / file, ignored)) return folder / file;
  return std::nullopt;
}

}  // namespace

Variables allocator_settings(MemoryAllocator choice, Decisions& decisions) {
  const bool any = choice == MemoryAllocator::automatic;
  for (const Allocator& allocator : kAllocators) {
    if (!any && choice != allocator.choice) continue;
    const auto library = find_library(allocator);
    check(library || any, "--memory_allocator {}: the library is not installed; Debian's package is {}",
          name_of(choice), allocator.package);
    if (!library) continue;
    decisions.note("memory_allocator", library->string(), fmt::format("--memory_allocator {}", name_of(choice)));
    const std::string others = environment("LD_PRELOAD");
    Variables variables{{"LD_PRELOAD", library->string() + (others.empty() ? "" : ":" + others)}};
    if (allocator.choice == MemoryAllocator::jemalloc)
      variables.emplace_back("MALLOC_CONF", "oversize_threshold:1,background_thread:true,metadata_thp:auto");
    return variables;
  }
  return {};
}

}  // namespace hearth::launch
