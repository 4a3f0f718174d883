#include "hearth/train/agreed_values.h"

#include <fmt/format.h>

#include <span>

#include "hearth/io/sha256.h"

namespace hearth {
namespace {

std::span<const std::byte> bytes_of(const Tensor& values) {
  return {static_cast<const std::byte*>(values.raw()), values.bytes()};
}

std::string short_digest(const io::Sha256& hash) { return hash.hex().substr(0, 12); }

}  // namespace

std::string description_of(const Dataset& data) {
  io::Sha256 lengths;
  for (std::int64_t item = 0; item < data.size(); ++item) {
    const std::int64_t length = data.length(item);
    lengths.update(std::as_bytes(std::span(&length, 1)));
  }
  return fmt::format("{} items (lengths {})", data.size(), short_digest(lengths));
}

parallel::Team::NamedValues agreed_values(std::span<const Arguments::Resolved> arguments) {
  parallel::Team::NamedValues values;
  for (const Arguments::Resolved& argument : arguments)
    if (!argument.per_process) values.emplace_back("--" + argument.name, argument.text);
  return values;
}

parallel::Team::NamedValues agreed_values(const TrainingArguments& args, const ParameterStore& parameters,
                                          const Dataset& train_data) {
  TrainingArguments copy = args;
  Arguments options;
  declare(options, copy);
  parallel::Team::NamedValues values = agreed_values(options.values());

  io::Sha256 names, frozen;
  for (const NamedParameter& parameter : parameters.named()) {
    names.update(parameter.name + " " + parameter.value.shape().to_string() + "\n");
    if (!parameter.parameter->trainable) frozen.update(bytes_of(parameter.value));
  }
  values.emplace_back("the model", fmt::format("one of {} parameters (names and shapes {})", parameters.element_count(),
                                               short_digest(names)));

  if (parameters.trainable_count() < parameters.element_count())  // they are never sent, so each rank must have them
    values.emplace_back("the frozen weights", short_digest(frozen));
  values.emplace_back("the training data", description_of(train_data));
  return values;
}

}  // namespace hearth
