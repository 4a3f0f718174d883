#include "hearth/apps/output_folder.h"

#include "hearth/base/check.h"

namespace hearth::apps {

void check_no_files(const std::filesystem::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names)
    check(!std::filesystem::exists(folder / name),
          "{} already holds {}: give another --output_dir, or --overwrite_output_dir to replace it", folder.string(),
          name);
}

}  // namespace hearth::apps
