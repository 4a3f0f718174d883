#include "hearth/train/shared_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "hearth/data/sha256.h"

namespace hearth {
namespace {

// Arguments that may differ: paths, because hosts may mount files elsewhere (their contents are compared); what only
// the first process uses; and what concerns one process alone.
constexpr std::array<std::string_view, 19> kOwnArguments = {"output_dir",
                                                            "overwrite_output_dir",
                                                            "resume_from_checkpoint",
                                                            "disable_tqdm",
                                                            "verbose",
                                                            "log_level",
                                                            "log_level_replica",
                                                            "log_on_each_node",
                                                            "local_rank",
                                                            "num_threads",
                                                            "max_isa",
                                                            "model_name_or_path",
                                                            "config_name",
                                                            "tokenizer_name",
                                                            "cache_dir",
                                                            "train_file",
                                                            "validation_file",
                                                            "test_file",
                                                            "overwrite_cache"};

std::string short_digest(const data::Sha256& hash) { return hash.hex().substr(0, 12); }

}  // namespace

parallel::Team::Facts shared_facts(std::span<const Arguments::Resolved> arguments) {
  parallel::Team::Facts facts;
  for (const Arguments::Resolved& value : arguments)
    if (std::ranges::find(kOwnArguments, value.name) == kOwnArguments.end())
      facts.emplace_back("--" + value.name, value.text);
  return facts;
}

parallel::Team::Facts shared_facts(const TrainingArguments& args, const ParameterStore& parameters,
                                   const Dataset& train_data) {
  TrainingArguments copy = args;
  Arguments options;
  declare(options, copy);
  parallel::Team::Facts facts = shared_facts(options.values());

  data::Sha256 names;
  for (const auto& parameter : parameters.parameters())
    for (const Parameter::Part& part : parameter->parts) names.update(part.name + " " + part.shape.to_string() + "\n");
  facts.emplace_back("the model", fmt::format("one of {} parameters (names and shapes {})", parameters.element_count(),
                                              short_digest(names)));

  data::Sha256 lengths;
  lengths.update(std::as_bytes(std::span(train_data.lengths)));
  facts.emplace_back("the training data", fmt::format("{} items (lengths {})", train_data.size, short_digest(lengths)));
  return facts;
}

}  // namespace hearth
