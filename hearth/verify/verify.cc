#include "hearth/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/models/family.h"
#include "hearth/models/head.h"
#include "hearth/verify/golden.h"

namespace hearth::verify {
namespace {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// An exception inside a part of the set is a failure of that part; the other parts are still checked.
template <class Part>
void guarded(const std::filesystem::path& part, Report& report, Part&& run) {
  try {
    run();
  } catch (const std::exception& error) {
    report.failed(part.filename().string(), error.what());
  }
}

// Names a part of a golden model that this build does not know; empty if it knows everything.
std::string unknown_in_model(const std::filesystem::path& folder) {
  const std::filesystem::path golden = folder / "golden.json";
  const bool has_kind = std::filesystem::exists(golden);
  const std::string kind = has_kind ? io::get_string(io::read_json(golden), "kind", golden.string()) : "";
  if (has_kind && kind != "embedding") return fmt::format("the kind {}", kind);
  const models::Config config = models::Config::read(folder);
  if (!models::is_known_family(config.model_type())) return fmt::format("the family {}", config.model_type());
  const auto head = models::known_head_of(config);
  if (!head || (head == models::HeadKind::embedding && !has_kind))  // a bare model has no loss of its own
    return fmt::format("the architecture {}", io::excerpt(config.values().at("architectures").front()));
  return "";
}

void verify_models(const std::filesystem::path& folder, Report& report) {
  for (const std::filesystem::path& model : entries_of(folder))
    guarded(model, report, [&] {
      const std::string unknown = unknown_in_model(model);
      if (!unknown.empty()) return report.unknown("models/" + model.filename().string(), unknown);
      verify_model(model, report);
    });
}

void verify_tokenizers(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report) {
  for (const std::filesystem::path& cases : entries_of(folder))
    guarded(cases, report, [&] { verify_tokenizer(cases, root, report); });
}

}  // namespace

void verify_set(const std::filesystem::path& folder, Report& report) {
  check(std::filesystem::is_directory(folder), "{} is not a folder; give one with golden files", folder.string());
  for (const std::filesystem::path& part : entries_of(folder)) {
    const std::string name = part.filename().string();
    if (name == "models") {
      verify_models(part, report);
    } else if (name == "tokenizer") {
      verify_tokenizers(part, folder, report);
    } else if (name == "qa") {
      guarded(part, report, [&] { verify_question_answering(part, folder, report); });
    } else if (name == "data_order.json") {
      guarded(part, report, [&] { verify_data_order(part, report); });
    } else if (name == "finetune") {
      report.unknown(name, "whole training runs, which the tests of run_qa compare");
    } else if (std::filesystem::is_directory(part)) {
      report.unknown(name, "this build has no check for it");
    }
  }
  check(report.made() > 0,
        "{} holds nothing that this build can check; a golden set has models/, tokenizer/, qa/ or data_order.json",
        folder.string());
}

}  // namespace hearth::verify
