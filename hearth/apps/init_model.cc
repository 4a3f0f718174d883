#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/output_folder.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::apps {
namespace {

bool is_same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code none;
  return std::filesystem::equivalent(a, b, none);
}

}  // namespace

int init_model(std::span<const std::string> words) {
  std::string config_file, tokenizer_folder, output_dir;
  std::int64_t seed = 42;
  bool overwrite = false;
  Arguments arguments("hearth init_model", "Creates a model folder with random weights, for training from scratch.");
  arguments.add("config", &config_file, "config.json of the model; vocab_size is taken from the tokenizer").required();
  arguments.add("tokenizer", &tokenizer_folder, "folder of the tokenizer, which is copied").required();
  arguments.add("output_dir", &output_dir, "model folder to create").required();
  arguments.add("overwrite_output_dir", &overwrite, "replace a model or tokenizer in output_dir");
  arguments.add("seed", &seed, "random seed of the weights");
  arguments.examples({"hearth init_model --config config.json --tokenizer my_tokenizer --output_dir my_model",
                      "hearth init_model --config small.json --tokenizer my_tokenizer --seed 7 --output_dir small"});
  if (!parse_or_print_help(arguments, words)) return 0;
  if (!overwrite) check_no_files(output_dir, {"model.safetensors"});
  if (!overwrite && !is_same_folder(output_dir, tokenizer_folder))
    check_no_files(output_dir, {"vocab.txt", "tokenizer.json"});
  const auto tokenizer = tokenizer::load_tokenizer(tokenizer_folder);
  io::Json values = io::read_json(config_file);
  check(values.is_object(), "{} is not a JSON object: give the config.json of a model", config_file);
  values["vocab_size"] = tokenizer->vocab_size();
  const models::Config config(std::move(values), config_file);
  const auto model = models::build_model(config, models::head_of(config), static_cast<std::uint64_t>(seed));
  model->save_pretrained(output_dir);
  tokenizer->save(output_dir);
  fmt::print("a {} of {} parameters in {}\n", model->architecture(), model->parameters().element_count(), output_dir);
  return 0;
}

}  // namespace hearth::apps
