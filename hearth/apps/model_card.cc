#include "hearth/apps/model_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "hearth/apps/markdown_table.h"
#include "hearth/base/version.h"
#include "hearth/data/record_format.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/optim/optimizers.h"
#include "hearth/train/results.h"

namespace hearth::apps {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string file_name(const std::filesystem::path& path) {
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

io::Json json_of(const Number& value) {
  return value.is_integer() ? io::Json(value.as_integer()) : io::Json(value.as_double());
}

std::string text_of(const io::Json& value) { return io::dump_json(value, io::kOneLine); }

// A JSON string is a YAML string.
std::string quoted(const std::string& text) { return text_of(text); }

// "eval_exact_match" -> "Exact Match"
std::string title_of(std::string name) {
  if (name.starts_with("eval_")) name.erase(0, std::string_view("eval_").size());
  bool starts_word = true;
  for (char& c : name) {
    if (starts_word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    starts_word = c == '_';
    if (starts_word) c = ' ';
  }
  return name;
}

// As TrainingSummary: at most four decimals.
std::string rounded_text(const io::Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : text_of(value);
  const std::size_t point = text.find('.');
  const bool is_long = value.is_number_float() && point != text.npos && text.size() - point - 1 > 4;
  return is_long ? fmt::format("{:.4f}", value.get<double>()) : text;
}

// The scores of the evaluation that the Hub knows by a name of its own.
Rows hub_metrics(const ModelCardFacts& facts) {
  Rows found;
  for (const auto& [type, key] : facts.task.metrics)
    if (facts.evaluation.contains(key)) found.emplace_back(type, key);
  return found;
}

// The name of the loader that Hugging Face's datasets would use.
std::string_view dataset_type(const std::string& file) {
  switch (data::record_format_of(file).value_or(data::RecordFormat::json)) {
    case data::RecordFormat::csv:
    case data::RecordFormat::tsv:
      return "csv";
    case data::RecordFormat::parquet:
      return "parquet";
    case data::RecordFormat::text:
      return "text";
    default:
      return "json";
  }
}

// The Hub rejects a result without a task, a dataset or metrics.
std::string model_index(const TrainingArguments& args, const ModelCardFacts& facts) {
  const std::string index = fmt::format("model-index:\n- name: {}\n", quoted(file_name(args.output_dir)));
  const Rows metrics = hub_metrics(facts);
  if (metrics.empty()) return index + "  results: []\n";
  const std::string& dataset = facts.task.dataset;
  const std::string file = dataset.empty() ? file_name(facts.task.validation_file) : dataset;
  std::string result =
      index + fmt::format("  results:\n  - task:\n      name: {}\n      type: {}\n", facts.task.name, facts.task.type);
  result += fmt::format("    dataset:\n      name: {}\n      type: {}\n      split: validation\n    metrics:\n",
                        quoted(file), dataset.empty() ? dataset_type(file) : quoted(dataset));
  for (const auto& [type, key] : metrics)
    result += fmt::format("    - name: {}\n      type: {}\n      value: {}\n", title_of(key), type,
                          text_of(facts.evaluation.at(key)));
  return result;
}

std::string metadata(const TrainingArguments& args, const ModelCardFacts& facts) {
  std::string yaml = "library_name: transformers\n";
  if (facts.base_model) yaml += fmt::format("base_model: {}\n", quoted(*facts.base_model));
  yaml += fmt::format("pipeline_tag: {}\ntags:\n- generated_from_trainer\n- hearth\n", facts.task.type);
  if (!facts.task.dataset.empty()) yaml += fmt::format("datasets:\n- {}\n", quoted(facts.task.dataset));
  const Rows metrics = hub_metrics(facts);
  if (!metrics.empty()) yaml += "metrics:\n";
  for (const auto& [type, key] : metrics) yaml += fmt::format("- {}\n", type);
  return fmt::format("---\n{}{}---\n", yaml, model_index(args, facts));
}

std::string optimizer_text(const TrainingArguments& args) {
  if (optim::reads_setting(args.optim, "adam_epsilon"))
    return fmt::format("Use {} with betas=({},{}) and epsilon={} and optimizer_args={}", args.optim,
                       text_of(args.adam_beta1), text_of(args.adam_beta2), text_of(args.adam_epsilon),
                       args.optim_args.value_or("No additional optimizer arguments"));
  return fmt::format("Use {}{}", args.optim, args.optim_args ? " and the args are: " + *args.optim_args : "");
}

// Under the names, and in the order, of TrainingSummary.
Rows hyperparameters(const TrainingArguments& args, std::int64_t processes) {
  const std::int64_t batch = args.per_device_train_batch_size, eval_batch = args.per_device_eval_batch_size;
  const std::int64_t micro_batches = args.gradient_accumulation_steps;
  Rows rows;
  const auto add = [&](const char* name, const io::Json& value) {
    rows.emplace_back(name, value.is_string() ? value.get<std::string>() : text_of(value));
  };
  add("learning_rate", args.learning_rate);
  add("train_batch_size", batch);
  add("eval_batch_size", eval_batch);
  add("seed", args.seed);
  if (processes > 1) add("distributed_type", "multi-CPU");
  if (processes > 1) add("num_devices", processes);
  if (micro_batches > 1) add("gradient_accumulation_steps", micro_batches);
  if (micro_batches * processes > 1) add("total_train_batch_size", batch * micro_batches * processes);
  if (processes > 1) add("total_eval_batch_size", eval_batch * processes);
  add("optimizer", optimizer_text(args));
  add("lr_scheduler_type", args.lr_scheduler_type);
  if (args.warmup_ratio != 0) add("lr_scheduler_warmup_ratio", args.warmup_ratio);
  if (args.warmup_steps >= 1)
    add("lr_scheduler_warmup_steps", static_cast<std::int64_t>(args.warmup_steps));
  else if (args.warmup_steps > 0)  // a ratio
    add("lr_scheduler_warmup_steps", args.warmup_steps);
  if (args.max_steps >= 0) {
    add("training_steps", args.max_steps);
  } else {
    add("num_epochs", args.num_train_epochs);
  }
  if (args.fp16 || args.bf16) add("mixed_precision_training", args.fp16 ? "fp16" : "bf16");
  return rows;
}

// The evaluations during training, with the last loss logged before each.
std::string results_table(const io::Json& log_history) {
  std::vector<std::vector<std::string>> table;
  std::string loss = "No log";
  for (const io::Json& row : log_history) {
    if (row.contains("loss")) loss = rounded_text(row["loss"]);
    std::vector<std::string> titles{"Training Loss", "Epoch", "Step"},
        values{loss, rounded_text(row.value("epoch", io::Json(0.0))), text_of(row.value("step", io::Json(0)))};
    for (const auto& [key, value] : row.items())
      if (is_score(key)) titles.push_back(title_of(key)), values.push_back(rounded_text(value));
    if (titles.size() == 3) continue;  // not an evaluation
    if (table.empty()) table.push_back(titles);
    if (titles.size() == table[0].size()) table.push_back(values);
  }
  return markdown_table(table);
}

std::string opening(const ModelCardFacts& facts) {
  const std::string& dataset = facts.task.dataset;
  const std::string data =
      dataset.empty() ? "`" + file_name(facts.task.train_file) + "`" : fmt::format("the {} dataset", dataset);
  std::string text =
      facts.base_model
          ? fmt::format("This model is a fine-tuned version of [{0}](https://huggingface.co/{0}) on {1}.\n",
                        *facts.base_model, data)
          : fmt::format("This model was fine-tuned for {} on {}.\n", facts.task.purpose, data);
  if (!facts.evaluation.empty()) text += "It achieves the following results on the evaluation set:\n";
  for (const auto& [key, value] : facts.evaluation)
    if (is_score(key)) text += fmt::format("- {}: {}\n", title_of(key), rounded_text(json_of(value)));
  return text;
}

// Whether `part` may be the owner or the name in a Hub id "owner/name". A leading dot is refused, which excludes "."
// and "..".
bool is_name_part(std::string_view part) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !part.empty() && !part.starts_with('.') && std::ranges::all_of(part, allowed);
}

}  // namespace

std::optional<std::string> hub_id(const std::string& name_or_path, const std::string& remembered) {
  if (!std::filesystem::is_directory(name_or_path)) return name_or_path;
  const std::size_t slash = remembered.find('/');
  if (slash == remembered.npos || std::filesystem::is_directory(remembered)) return std::nullopt;
  const std::string owner = remembered.substr(0, slash), name = remembered.substr(slash + 1);
  const bool is_id = is_name_part(owner) && is_name_part(name) && !io::checkpoint_step(name);
  return is_id ? std::optional(remembered) : std::nullopt;
}

std::string model_card(const TrainingArguments& args, const ModelCardFacts& facts) {
  std::string card = metadata(args, facts);
  card +=
      "\n<!-- This model card was generated from what the training run knew. Proofread and complete it, then remove "
      "this comment. -->\n";
  card += fmt::format("\n# {}\n\n{}", file_name(args.output_dir), opening(facts));
  card += "\n## Model description\n\nMore information needed\n";
  card += "\n## Intended uses & limitations\n\nMore information needed\n";
  card += "\n## Training and evaluation data\n\nMore information needed\n";
  card += "\n## Training procedure\n\n### Training hyperparameters\n\n";
  card += "The following hyperparameters were used during training (training_args.json has all settings):\n";
  for (const auto& [name, value] : hyperparameters(args, facts.processes))
    card += fmt::format("- {}: {}\n", name, value);
  if (const std::string table = results_table(facts.log_history); !table.empty())
    card += "\n### Training results\n\n" + table;
  return card + fmt::format("\n### Framework versions\n\n- Hearth {}\n", kVersion);
}

}  // namespace hearth::apps
