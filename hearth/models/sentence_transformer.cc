#include "hearth/models/sentence_transformer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"

namespace hearth::models {
namespace {

constexpr const char* kModules = "modules.json";
constexpr const char* kTransformerConfig = "sentence_bert_config.json";
constexpr const char* kModelConfig = "config_sentence_transformers.json";
constexpr const char* kLayoutVersion = "5.4.0";  // of sentence-transformers, the first that has this layout
constexpr std::int64_t kLongest = 1 << 30;

// The class at the end of "sentence_transformers.models.Pooling" or "....modules.pooling.Pooling".
std::string class_of(const std::string& type) { return type.substr(type.rfind('.') + 1); }

std::string names_of_modes() { return fmt::format("{}", fmt::join(names_of(ops::Pooling{}), ", ")); }

ops::Pooling pooling_named(const std::string& name, const std::string& file) {
  const auto mode = value_named<ops::Pooling>(name);
  check(mode.has_value(), "{}: the pooling mode '{}' is not known; use one of {}", file, name, names_of_modes());
  return *mode;
}

// To version 5.3 there is a flag per mode.
std::vector<ops::Pooling> flagged_modes(const io::Json& config, const std::string& file) {
  constexpr std::array<std::pair<const char*, ops::Pooling>, 6> kFlags{{
      {"pooling_mode_cls_token", ops::Pooling::cls},
      {"pooling_mode_max_tokens", ops::Pooling::max},
      {"pooling_mode_mean_tokens", ops::Pooling::mean},
      {"pooling_mode_mean_sqrt_len_tokens", ops::Pooling::mean_sqrt_len_tokens},
      {"pooling_mode_weightedmean_tokens", ops::Pooling::weightedmean},
      {"pooling_mode_lasttoken", ops::Pooling::lasttoken},
  }};
  std::vector<ops::Pooling> modes;
  for (const auto& [flag, mode] : kFlags)
    if (io::get_bool_or(config, flag, false, file)) modes.push_back(mode);
  return modes.empty() ? std::vector{ops::Pooling::mean} : modes;
}

std::vector<ops::Pooling> modes_in(const io::Json& config, const std::string& file) {
  const auto found = config.find("pooling_mode");
  if (found == config.end()) return flagged_modes(config, file);
  if (found->is_string()) return {pooling_named(found->get<std::string>(), file)};
  check(found->is_array() && !found->empty(), "{}: \"pooling_mode\" must be a name or a list of names, found {}", file,
        io::excerpt(*found));
  std::vector<ops::Pooling> modes;
  for (const io::Json& name : *found) {
    check(name.is_string(), "{}: \"pooling_mode\" has {}, which is no name", file, io::excerpt(name));
    modes.push_back(pooling_named(name.get<std::string>(), file));
  }
  return modes;
}

void read_pooling(SentenceTransformer& settings, const std::filesystem::path& folder) {
  const std::string file = (folder / "config.json").string();
  const io::Json config = io::read_json(file);
  check(config.is_object(), "{} must hold a JSON object, found {}", file, io::excerpt(config));
  settings.pooling = modes_in(config, file);
  settings.include_prompt = io::get_bool_or(config, "include_prompt", true, file);
}

void read_modules(SentenceTransformer& settings, const std::filesystem::path& folder) {
  const std::string file = (folder / kModules).string();
  const io::Json modules = io::read_json(file);
  check(modules.is_array(), "{} must hold a list of modules, found {}", file, io::excerpt(modules));
  for (const io::Json& module : modules) {
    const std::string type = io::get_string(module, "type", file), path = io::get_string(module, "path", file);
    const std::string name = class_of(type);
    const bool is_first = &module == &modules.front();
    check(is_first == (name == "Transformer"), "{}: the first module must be a Transformer, and no other, found {}",
          file, type);
    check(!is_first || path.empty(),
          "{}: its Transformer is in the folder {}, but must be beside modules.json; load and save the model with "
          "sentence-transformers",
          file, path);
    if (is_first) continue;
    if (name == "Pooling") {
      read_pooling(settings, folder / path);
    } else {
      check(name == "Normalize",
            "{}: the module {} is not supported; an embedding model has a Transformer, a Pooling and perhaps a "
            "Normalize module",
            file, type);
      settings.normalize = true;
    }
  }
}

void read_transformer_config(SentenceTransformer& settings, const std::filesystem::path& folder) {
  const std::string file = (folder / kTransformerConfig).string();
  if (!std::filesystem::exists(file)) return;
  const io::Json config = io::read_json(file);
  if (config.contains("max_seq_length") && !config["max_seq_length"].is_null())
    settings.max_seq_length = io::get_int_within(config, "max_seq_length", 1, kLongest, file);
  if (io::get_bool_or(config, "do_lower_case", false, file))
    log_warning("{}: do_lower_case has no effect; the tokenizer's own setting counts", file);
}

void read_model_config(SentenceTransformer& settings, const std::filesystem::path& folder) {
  const std::string file = (folder / kModelConfig).string();
  if (!std::filesystem::exists(file)) return;
  const io::Json config = io::read_json(file);
  check(config.is_object(), "{} must hold a JSON object, found {}", file, io::excerpt(config));
  if (const auto prompts = config.find("prompts"); prompts != config.end() && !prompts->is_null()) {
    check(prompts->is_object(), "{}: \"prompts\" must be an object of texts, found {}", file, io::excerpt(*prompts));
    for (const auto& [name, text] : prompts->items()) {
      check(text.is_string(), "{}: the prompt \"{}\" must be a text, found {}", file, name, io::excerpt(text));
      settings.prompts[name] = text.get<std::string>();
    }
  }
  const std::string chosen = io::get_string_or(config, "default_prompt_name", "", file);
  if (!chosen.empty()) settings.default_prompt_name = chosen;
  settings.similarity_fn_name = io::get_string_or(config, "similarity_fn_name", "cosine", file);
  if (config.contains("truncate_dim") && !config["truncate_dim"].is_null())
    settings.truncate_dim = io::get_int_within(config, "truncate_dim", 1, kLongest, file);
}

io::Json module_json(int index, const char* path, const char* type) {
  return {{"idx", index}, {"name", std::to_string(index)}, {"path", path}, {"type", type}};
}

io::Json transformer_module() {
  return module_json(0, "", "sentence_transformers.base.modules.transformer.Transformer");
}

void write_json(const std::filesystem::path& file, const io::Json& value, int indent, bool sorted = false) {
  io::replace_file(file, io::dump_json(value, indent, sorted));
}

void write_transformer_config(const std::filesystem::path& folder, const char* task, const char* method_output,
                              const char* module_output) {
  write_json(folder / kTransformerConfig,
             {{"transformer_task", task},
              {"modality_config", {{"text", {{"method", "forward"}, {"method_output_name", method_output}}}}},
              {"module_output_name", module_output}},
             4);
}

// In this layout the tokenizer has the limit of the length.
void limit_tokenizer(const std::filesystem::path& folder, std::int64_t max_seq_length) {
  const std::filesystem::path file = folder / "tokenizer_config.json";
  io::Json config = io::read_json(file);
  config["model_max_length"] = max_seq_length;
  io::replace_file(file, io::dump_json(config, 2) + "\n");
}

}  // namespace

std::string SentenceTransformer::prompt(const std::optional<std::string>& name, const std::string& folder) const {
  const std::optional<std::string>& wanted = name ? name : default_prompt_name;
  if (!wanted) return "";
  const auto found = prompts.find(*wanted);
  std::vector<std::string> known;
  for (const auto& [each, text] : prompts) known.push_back(each);
  check(found != prompts.end(), "{} has no prompt '{}'; it has {}", folder, *wanted,
        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
  return found->second;
}

std::string SentenceTransformer::first_prompt(std::initializer_list<const char*> names) const {
  for (const char* name : names)
    if (const auto found = prompts.find(name); found != prompts.end()) return found->second;
  const auto usual = default_prompt_name ? prompts.find(*default_prompt_name) : prompts.end();
  return usual == prompts.end() ? "" : usual->second;
}

SentenceTransformer read_sentence_transformer(const std::filesystem::path& folder) {
  SentenceTransformer settings;
  if (std::filesystem::exists(folder / kModules)) read_modules(settings, folder);
  read_transformer_config(settings, folder);
  read_model_config(settings, folder);
  return settings;
}

void write_sentence_transformer(const SentenceTransformer& settings, std::int64_t hidden,
                                const std::filesystem::path& folder) {
  io::Json modules = io::Json::array(
      {transformer_module(),
       module_json(1, "1_Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling")});
  io::create_directories(folder / "1_Pooling");
  if (settings.normalize) {
    modules.push_back(
        module_json(2, "2_Normalize", "sentence_transformers.sentence_transformer.modules.normalize.Normalize"));
    io::create_directories(folder / "2_Normalize");
  }
  write_json(folder / kModules, modules, 2);
  io::Json modes = io::Json::array();
  for (const ops::Pooling mode : settings.pooling) modes.push_back(name_of(mode));
  write_json(folder / "1_Pooling" / "config.json",
             {{"embedding_dimension", hidden},
              {"pooling_mode", modes.size() == 1 ? modes.front() : modes},
              {"include_prompt", settings.include_prompt}},
             4);
  io::Json config{{"__version__", {{"sentence_transformers", kLayoutVersion}}},
                  {"default_prompt_name", nullptr},
                  {"model_type", "SentenceTransformer"},
                  {"prompts", {{"document", ""}, {"query", ""}}},
                  {"similarity_fn_name", settings.similarity_fn_name}};
  for (const auto& [name, text] : settings.prompts) config["prompts"][name] = text;
  if (settings.default_prompt_name) config["default_prompt_name"] = *settings.default_prompt_name;
  if (settings.truncate_dim) config["truncate_dim"] = *settings.truncate_dim;
  write_json(folder / kModelConfig, config, 2, true);
  write_transformer_config(folder, "feature-extraction", "last_hidden_state", "token_embeddings");
  if (settings.max_seq_length) limit_tokenizer(folder, *settings.max_seq_length);
}

void write_cross_encoder(std::int64_t max_seq_length, const std::filesystem::path& folder) {
  write_json(folder / kModules, io::Json::array({transformer_module()}), 2);
  write_json(folder / kModelConfig,
             {{"__version__", {{"sentence_transformers", kLayoutVersion}}},
              {"activation_fn", "torch.nn.modules.activation.Sigmoid"},
              {"default_prompt_name", nullptr},
              {"model_type", "CrossEncoder"},
              {"prompts", io::Json::object()}},
             2, true);
  write_transformer_config(folder, "sequence-classification", "logits", "scores");
  limit_tokenizer(folder, max_seq_length);
}

}  // namespace hearth::models
