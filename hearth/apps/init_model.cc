#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/output_folder.h"
#include "hearth/base/arguments.h"
#include "hearth/base/error.h"
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
  Arguments arguments("hearth init_model", "Makes a model folder with random weights, to be trained from nothing.");
  arguments.add("config", &config_file, "a config.json; vocab_size comes from the tokenizer").required();
  arguments.add("tokenizer", &tokenizer_folder, "a folder with a tokenizer, which is copied").required();
  arguments.add("output_dir", &output_dir, "the model folder to write").required();
  arguments.add("overwrite_output_dir", &overwrite, "replace a model or a tokenizer that is there");
  arguments.add("seed", &seed, "of the random weights");
  arguments.parse(words);
  if (arguments.wants_help()) {
    fmt::print("{}", arguments.help());
    return 0;
  }
  if (!overwrite) check_no_files(output_dir, {"model.safetensors"});
  if (!overwrite && !is_same_folder(output_dir, tokenizer_folder))
    check_no_files(output_dir, {"vocab.txt", "tokenizer.json"});
  const auto tokenizer = tokenizer::load_tokenizer(tokenizer_folder);
  io::Json values = io::read_json(config_file);
  check(values.is_object(), "{} does not hold a JSON object; give a model's config.json", config_file);
  values["vocab_size"] = tokenizer->vocab_size();
  const models::Config config(std::move(values), config_file);
  const auto model = models::build_model(config, models::head_of(config), static_cast<std::uint64_t>(seed));
  model->save_pretrained(output_dir);
  tokenizer->save(output_dir);
  fmt::print("a {} of {} parameters in {}\n", model->architecture(), model->parameters().element_count(), output_dir);
  return 0;
}

}  // namespace hearth::apps
