#include "hearth/apps/model_card.h"

#include <fmt/format.h>

#include <filesystem>

#include "hearth/base/version.h"

namespace hearth::apps {
namespace {

std::string file_name(const std::filesystem::path& path) {
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

// A string of JSON is one of YAML.
std::string quoted(const std::string& text) { return io::dump_json(text, io::kOneLine); }

}  // namespace

std::string model_card(const tasks::RunQaArguments& args, const io::Json& metrics) {
  const std::string name = file_name(args.training.output_dir), base = args.model.model_name_or_path;
  std::string card = fmt::format(
      "---\nlibrary_name: transformers\nbase_model: {0}\ntags:\n- generated_from_trainer\nmodel-index:\n- name: {5}\n"
      "  results: []\n---\n\n# {1}\n\n{4}, fine-tuned for extractive question answering on {2} with Hearth {3}.\n",
      quoted(base), name, file_name(args.data.train_file.value_or("")), kVersion, base, quoted(name));
  if (!metrics.empty()) card += "\n## Evaluation\n\n| metric | value |\n|---|---|\n";
  for (const auto& [key, value] : metrics.items())
    card += fmt::format("| {} | {} |\n", key, io::dump_json(value, io::kOneLine));
  card +=
      "\n## Settings\n\nThose that were given; all of them are in training_args.json.\n\n| setting | value "
      "|\n|---|---|\n";
  for (const Arguments::Resolved& setting : args.resolved)
    if (!setting.is_default) card += fmt::format("| {} | {} |\n", setting.name, setting.text);
  return card;
}

}  // namespace hearth::apps
