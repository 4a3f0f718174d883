#include "hearth/verify/verify.h"

#include <algorithm>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/models/config.h"

namespace hearth::verify {
namespace {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// An Error inside a part of the set is that part's failure; the other parts are still checked.
template <class Part>
void guarded(const std::filesystem::path& part, Report& report, Part&& run) {
  try {
    run();
  } catch (const std::exception& error) {
    report.failed(part.filename().string(), error.what());
  }
}

void verify_models(const std::filesystem::path& folder, Report& report) {
  constexpr std::string_view kLaterFamilies[] = {"gpt2", "llama"};
  for (const std::filesystem::path& model : entries_of(folder))
    guarded(model, report, [&] {
      const std::string type = models::Config::read(model).model_type();
      if (std::ranges::find(kLaterFamilies, type) != std::end(kLaterFamilies))
        return report.unknown("models/" + model.filename().string(), "the family " + type);
      verify_model(model, report);
    });
}

}  // namespace

void verify_set(const std::filesystem::path& folder, Report& report) {
  check(std::filesystem::is_directory(folder), "{} is not a folder; give one with golden files", folder.string());
  for (const std::filesystem::path& part : entries_of(folder)) {
    const std::string name = part.filename().string();
    if (name == "models") {
      verify_models(part, report);
    } else if (std::filesystem::is_directory(part) || part.extension() == ".json") {
      report.unknown(name, "this build has no check for it");
    }
  }
  check(report.made() > 0, "{} holds nothing to check; a golden set has a folder models", folder.string());
}

}  // namespace hearth::verify
