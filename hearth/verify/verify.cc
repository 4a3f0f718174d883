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
    } else if (name == "tokenizer") {
      for (const std::filesystem::path& cases : entries_of(part))
        guarded(cases, report, [&] { verify_tokenizer(cases, folder, report); });
    } else if (name == "qa") {
      guarded(part, report, [&] { verify_question_answering(part, folder, report); });
    } else if (name == "data_order.json") {
      guarded(part, report, [&] { verify_data_order(part, report); });
    } else if (name == "finetune") {
      report.unknown(name, "whole runs, which the tests of run_qa compare");
    } else if (std::filesystem::is_directory(part)) {
      report.unknown(name, "this build has no check for it");
    }
  }
  check(report.made() > 0, "{} holds nothing to check; a golden set has models, tokenizer, qa or data_order.json",
        folder.string());
}

}  // namespace hearth::verify
