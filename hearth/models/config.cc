#include "hearth/models/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "hearth/base/check.h"

namespace hearth::models {
namespace {

constexpr std::array kProblemTypes{ProblemType::regression, ProblemType::single_label_classification,
                                   ProblemType::multi_label_classification};

std::string default_label(std::int64_t id) { return "LABEL_" + std::to_string(id); }

}  // namespace

std::string_view name_of(ProblemType type) {
  switch (type) {
    case ProblemType::regression:
      return "regression";
    case ProblemType::single_label_classification:
      return "single_label_classification";
    case ProblemType::multi_label_classification:
      return "multi_label_classification";
  }
  return "unknown";
}

Config Config::read(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  check(std::filesystem::is_directory(folder),
        "{} is not a folder; give a model folder with config.json and model.safetensors", folder.string());
  check(std::filesystem::exists(file), "{} has no config.json; is it a Hugging Face model folder?", folder.string());
  io::Json values = io::read_json(file);
  check(values.is_object(), "{} must hold a JSON object", file.string());
  return {std::move(values), file.string()};
}

std::string Config::model_type() const { return io::get_string(values_, "model_type", file_); }

std::int64_t Config::size(std::string_view key, std::int64_t at_most) const {
  return size_or(key, io::get_int(values_, key, file_), 1, at_most);
}

std::int64_t Config::size_or(std::string_view key, std::int64_t otherwise, std::int64_t at_least,
                             std::int64_t at_most) const {
  const std::int64_t value = io::get_int_or(values_, key, otherwise, file_);
  check(value >= 0 || at_least > 0, "{}: \"{}\" must not be negative, it is {}", file_, key, value);
  check(value >= at_least, "{}: \"{}\" must be at least {}, it is {}", file_, key, at_least, value);
  check(value <= at_most, "{}: \"{}\" must be at most {}, it is {}", file_, key, at_most, value);
  return value;
}

std::int32_t Config::token_id_or(std::string_view key, std::int32_t otherwise, std::int64_t vocab_size) const {
  const std::int64_t id = io::get_int_or(values_, key, otherwise, file_);
  check(id >= 0 && id < vocab_size, "{}: \"{}\" is {}, which is not in the vocabulary of {} tokens", file_, key, id,
        vocab_size);
  return static_cast<std::int32_t>(id);
}

float Config::number_or(std::string_view key, double otherwise) const {
  const auto number = static_cast<float>(io::get_double_or(values_, key, otherwise, file_));
  check(number >= 0 && std::isfinite(number), "{}: \"{}\" must be a finite number that is not negative, it is {}",
        file_, key, number);
  return number;
}

float Config::rate_or(std::string_view key, double otherwise) const {
  const auto rate = static_cast<float>(io::get_double_or(values_, key, otherwise, file_));
  check(rate >= 0 && rate < 1, "{}: \"{}\" must lie in [0, 1), it is {}", file_, key, rate);
  return rate;
}

kernels::Activation Config::activation(std::string_view key, const std::string& otherwise) const {
  using kernels::Activation;
  const std::string name = io::get_string_or(values_, key, otherwise, file_);
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  if (name == "tanh") return Activation::tanh;
  fail("{}: \"{}\" is '{}', which is not supported; use gelu, gelu_new, gelu_pytorch_tanh, relu or tanh", file_, key,
       name);
}

std::int64_t Config::num_labels() const {
  const auto labels = values_.find("id2label");
  if (labels != values_.end() && labels->is_object() && !labels->empty())
    return static_cast<std::int64_t>(labels->size());
  return std::max<std::int64_t>(1, size_or("num_labels", 2));  // a head has at least one output
}

std::vector<std::string> Config::label_names() const {
  std::vector<std::string> names;
  for (std::int64_t id = 0; id < num_labels(); ++id) names.push_back(default_label(id));
  const auto given = values_.find("id2label");
  if (given == values_.end() || !given->is_object()) return names;
  for (const auto& [id, name] : given->items()) {
    std::int64_t number = -1;
    std::from_chars(id.data(), id.data() + id.size(), number);
    check(number >= 0 && number < std::ssize(names) && (name.is_string() || name.is_number()),
          "{}: \"id2label\" must map 0 to {} to names, but has {}: {}", file_, names.size() - 1, id, name.dump());
    names[static_cast<std::size_t>(number)] = name.is_string() ? name.get<std::string>() : name.dump();
  }
  return names;
}

bool Config::has_label_names() const {
  const std::vector<std::string> names = label_names();
  for (std::int64_t id = 0; id < std::ssize(names); ++id)
    if (names[static_cast<std::size_t>(id)] != default_label(id)) return true;
  return false;
}

void Config::set_labels(std::span<const std::string> names) {
  forget_labels();
  io::Json by_id = io::Json::object(), by_name = io::Json::object();
  for (std::size_t id = 0; id < names.size(); ++id) {
    by_id[std::to_string(id)] = names[id];
    by_name[names[id]] = id;
  }
  values_["id2label"] = std::move(by_id);
  values_["label2id"] = std::move(by_name);
}

std::optional<ProblemType> Config::problem_type() const {
  const auto found = values_.find("problem_type");
  if (found == values_.end() || found->is_null()) return std::nullopt;
  for (const ProblemType type : kProblemTypes)
    if (*found == std::string(name_of(type))) return type;
  fail("{}: \"problem_type\" is {}; it must be regression, single_label_classification or multi_label_classification",
       file_, io::excerpt(*found));
}

void Config::set_problem_type(ProblemType type) { values_["problem_type"] = std::string(name_of(type)); }

void Config::set_finetuning_task(std::string_view task) { values_["finetuning_task"] = std::string(task); }

void Config::set_vocab_size(std::int64_t tokens) { values_["vocab_size"] = tokens; }

void Config::forget_labels() {
  for (const char* key : {"num_labels", "id2label", "label2id"}) values_.erase(key);
}

void Config::require(std::string_view key, const io::Json& value) const {
  const auto found = values_.find(key);
  check(found == values_.end() || found->is_null() || *found == value, "{}: \"{}\" is {}; only {} is supported", file_,
        key, found == values_.end() ? "" : found->dump(), value.dump());
}

void Config::override_fields(std::string_view overrides, std::span<const std::string_view> known) {
  while (!overrides.empty()) {
    const std::string_view item = overrides.substr(0, overrides.find(','));
    overrides.remove_prefix(std::min(overrides.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    check(equals != std::string_view::npos && equals > 0, "config_overrides: '{}' is not of the form field=value",
          item);
    const std::string key(item.substr(0, equals)), text(item.substr(equals + 1));
    check(values_.contains(key) || std::ranges::find(known, key) != known.end(),
          "config_overrides: {} has no field \"{}\"", file_, key);
    if (key == "num_labels") forget_labels();
    io::Json value = io::Json::parse(text, nullptr, false);
    values_[key] = value.is_discarded() ? io::Json(text) : std::move(value);
  }
}

}  // namespace hearth::models
