#include "hearth/train/torch_optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/io/torch_file.h"
#include "hearth/optim/optimizers.h"

namespace hearth {
namespace {

using io::PickleValue;
using io::TorchTensor;

const PickleValue& required(const PickleValue& dict, std::string_view key, const std::string& file) {
  const PickleValue* const found = dict.find(key);
  check(found != nullptr, "{} lacks \"{}\": it is not the state of an optimizer", file, key);
  return *found;
}

// The numbers of the parameters of each group.
std::vector<std::vector<std::int64_t>> numbers_of_groups(const PickleValue& value, const std::string& file) {
  std::vector<std::vector<std::int64_t>> groups;
  const auto* const list = required(value, "param_groups", file).get_if<PickleValue::List>();
  check(list != nullptr, "{}: \"param_groups\" must be a list", file);
  for (const PickleValue& group : list->items) {
    const auto* const params = required(group, "params", file).get_if<PickleValue::List>();
    check(params != nullptr, "{}: \"params\" of a group must be a list", file);
    groups.emplace_back();
    for (const PickleValue& number : params->items) {
      check(number.get_if<std::int64_t>() != nullptr, "{}: \"params\" of a group must be numbers", file);
      groups.back().push_back(*number.get_if<std::int64_t>());
    }
  }
  return groups;
}

// The shape of the parameter that has this state; none if it has no moments.
std::optional<std::vector<std::int64_t>> shape_of(const PickleValue* state) {
  if (state == nullptr) return std::nullopt;
  const auto shape = [&](std::string_view key) -> std::optional<std::vector<std::int64_t>> {
    const PickleValue* const value = state->find(key);
    const auto* const tensor = value == nullptr ? nullptr : value->object_if<TorchTensor>();
    return tensor == nullptr ? std::nullopt : std::optional(tensor->shape());
  };
  for (const char* key : {"exp_avg", "exp_avg_sq", "momentum_buffer", "sum", "square_avg"})
    if (auto found = shape(key)) return found;
  auto rows = shape("exp_avg_sq_row");  // of Adafactor
  const auto cols = shape("exp_avg_sq_col");
  if (rows && cols) rows->insert(rows->end(), cols->begin(), cols->end());
  return cols ? rows : std::nullopt;
}

std::int64_t number_of(const TorchTensor& tensor, const std::string& file) {
  const Tensor value = tensor.read(file + ": \"step\"");
  constexpr float kMost = 1e15f;
  const bool is_number = value.size() == 1 && value.type() == DType::f32;
  check(is_number && value.item() >= 0 && value.item() <= kMost, "{}: \"step\" must be a number of updates", file);
  return static_cast<std::int64_t>(value.item());
}

struct Numbered {
  const PickleValue* state = nullptr;  // none: no backward pass has reached the parameter
  std::optional<std::vector<std::int64_t>> shape;

  bool fits(const Parameter::Part& part) const { return !shape || std::ranges::equal(*shape, part.shape.dims()); }
};

using NumberedGroups = std::array<std::vector<Numbered>, std::tuple_size_v<TorchGroups>>;

bool all_fit(const std::vector<Numbered>& numbered, const std::vector<Parameter::Part>& group) {
  return std::ranges::equal(numbered, group,
                            [](const Numbered& one, const Parameter::Part& part) { return one.fits(part); });
}

// In the first known order that all shapes fit, otherwise in the first one.
TorchGroups groups_that_fit(const NumberedGroups& numbered, const ParameterStore& parameters) {
  for (const TorchOrder order : kTorchOrders) {
    TorchGroups groups = torch_groups(parameters, order);
    if (std::ranges::equal(numbered, groups, all_fit)) return groups;
  }
  return torch_groups(parameters);
}

// The parameters of a group in the order of the numbers: that of the group, or another one, in which parameters of
// equal shape have kept their order. In the latter case a parameter without moments must have a shape of its own.
std::vector<Parameter::Part> in_order_of(const std::vector<Numbered>& numbered, std::vector<Parameter::Part> group,
                                         const std::string& file) {
  if (all_fit(numbered, group)) return group;
  const auto check_fit = [&](bool fit) {
    check(fit, "{} does not fit this model: its moments have other shapes than the weights", file);
  };
  std::vector<Parameter::Part> ordered(numbered.size());
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    if (!numbered[i].shape) continue;
    const auto found = std::ranges::find_if(group, [&](const auto& part) { return numbered[i].fits(part); });
    check_fit(found != group.end());
    ordered[i] = std::move(*found);
    group.erase(found);
  }
  for (const Parameter::Part& rest : group)
    check_fit(std::ranges::none_of(numbered, [&](const Numbered& one) { return one.shape && one.fits(rest); }));
  auto rest = group.begin();
  for (std::size_t i = 0; i < numbered.size(); ++i)
    if (!numbered[i].shape) ordered[i] = std::move(*rest++);
  return ordered;
}

void add_moments(const PickleValue& state, const std::string& name, const std::string& file,
                 std::map<std::string, Tensor, std::less<>>& moments) {
  const auto* const dict = state.get_if<PickleValue::Dict>();
  check(dict != nullptr, "{}: the state of a parameter must be a dict", file);
  for (const auto& [key, item] : dict->items) {
    const auto* const moment = key.get_if<std::string>();
    const auto* const tensor = item.object_if<TorchTensor>();
    if (moment == nullptr || tensor == nullptr || *moment == "step" || *moment == "RMS") continue;
    const std::string full = *moment + "." + name;
    moments[full] = tensor->read(file + ": " + full);
  }
}

// The settings of a group, under the names and in the order of the optimizer's class in PyTorch.
PickleValue::Dict settings_of_group(const TorchOptimizerSettings& settings, bool decays) {
  const optim::OptimizerOptions& options = settings.options;
  const optim::OptimizerKind& kind = optim::optimizer_kind(options.name);
  const std::string& name = kind.names.front();
  const optim::OptimizerArgs args = optim::with_defaults(options.args, kind.args, options.name);
  const PickleValue none;
  const PickleValue fused = options.name == "adamw_torch_fused" ? PickleValue(true) : none;
  const PickleValue betas = PickleValue::Tuple{{options.beta1, options.beta2}};
  PickleValue::Dict group{{{"weight_decay", decays ? options.weight_decay : 0.0}, {"lr", settings.lr}}};
  const auto add = [&](std::initializer_list<std::pair<PickleValue, PickleValue>> items) {
    group.items.insert(group.items.end(), items);
  };
  if (name == "adamw_torch" || name == "adamw_16bit")
    add({{"betas", betas},
         {"eps", options.eps},
         {"amsgrad", false},
         {"maximize", false},
         {"foreach", none},
         {"capturable", false},
         {"differentiable", false},
         {"fused", fused},
         {"decoupled_weight_decay", true}});
  if (name == "adamw_hf") add({{"betas", betas}, {"eps", options.eps}, {"correct_bias", true}});
  if (name == "sgd")
    add({{"momentum", args.at("momentum")},
         {"dampening", 0.0},
         {"nesterov", false},
         {"maximize", false},
         {"foreach", none},
         {"differentiable", false},
         {"fused", none}});
  if (name == "adafactor")
    add({{"eps", PickleValue::Tuple{{1e-30, 1e-3}}},
         {"clip_threshold", 1.0},
         {"decay_rate", -0.8},
         {"beta1", none},
         {"scale_parameter", false},
         {"relative_step", false},
         {"warmup_init", false}});
  if (name == "adagrad")
    add({{"lr_decay", args.at("lr_decay")},
         {"eps", args.at("eps")},
         {"initial_accumulator_value", args.at("initial_accumulator_value")},
         {"foreach", none},
         {"maximize", false},
         {"differentiable", false},
         {"fused", none}});
  if (name == "rmsprop")
    add({{"momentum", args.at("momentum")},
         {"alpha", args.at("alpha")},
         {"eps", args.at("eps")},
         {"centered", false},
         {"capturable", false},
         {"foreach", none},
         {"maximize", false},
         {"differentiable", false}});
  add({{"initial_lr", settings.initial_lr}});
  return group;
}

// The number of updates as the optimizer's class keeps it; none if it keeps none.
std::optional<PickleValue> step_of(const TorchOptimizerSettings& settings, io::TorchWriter& writer) {
  const std::string& name = optim::optimizer_kind(settings.options.name).names.front();
  if (name == "sgd") return std::nullopt;
  if (name == "adafactor" || name == "adamw_hf") return settings.steps;
  return writer.tensor(Tensor::of(std::array{static_cast<float>(settings.steps)}, {}));
}

}  // namespace

std::optional<std::int64_t> torch_optimizer_steps(const std::filesystem::path& path) {
  const std::string file = path.string();
  const PickleValue value = io::read_torch(path);
  const auto* const states = required(value, "state", file).get_if<PickleValue::Dict>();
  check(states != nullptr, "{}: \"state\" must be a dict", file);
  std::optional<std::int64_t> steps;
  for (const auto& [number, state] : states->items) {
    const PickleValue* const step = state.find("step");
    if (step == nullptr) continue;
    const auto* const tensor = step->object_if<TorchTensor>();
    const auto* const integer = step->get_if<std::int64_t>();
    check(integer != nullptr || tensor != nullptr, "{}: \"step\" must be a number", file);
    const std::int64_t found = integer != nullptr ? *integer : number_of(*tensor, file);
    check(found >= 0 && (!steps || found == *steps),
          "{}: some parameters have had {} updates and others {}, which Hearth cannot continue", file,
          steps.value_or(0), found);
    steps = found;
  }
  return steps;
}

TorchOptimizer read_torch_optimizer(const std::filesystem::path& path, const ParameterStore& parameters) {
  const std::string file = path.string();
  const PickleValue value = io::read_torch(path);
  const PickleValue& states = required(value, "state", file);
  const std::vector<std::vector<std::int64_t>> numbers = numbers_of_groups(value, file);
  TorchGroups groups = torch_groups(parameters);
  std::vector<std::size_t> sizes;
  for (const std::vector<std::int64_t>& group : numbers) sizes.push_back(group.size());
  check(std::ranges::equal(numbers, groups, {}, std::ranges::size, std::ranges::size),
        "{} has groups of {} parameters, this run of {} with weight decay and {} without: it was written for another "
        "model, with other frozen parameters, or by an optimizer that the Trainer did not make. Resume with the same "
        "model and --freeze, or begin a run from the weights with --model_name_or_path {}",
        file, fmt::join(sizes, ", "), groups[0].size(), groups[1].size(), path.parent_path().string());
  NumberedGroups numbered;
  for (std::size_t i = 0; i < numbered.size(); ++i)
    for (const std::int64_t number : numbers[i]) {
      const PickleValue* const state = states.find(number);
      numbered[i].push_back({state, shape_of(state)});
    }
  groups = groups_that_fit(numbered, parameters);
  TorchOptimizer read;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<Parameter::Part> ordered = in_order_of(numbered[i], std::move(groups[i]), file);
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      const std::string& name = ordered[j].name;
      if (numbered[i][j].state == nullptr) {
        read.without_moments.insert(name);
      } else {
        add_moments(*numbered[i][j].state, name, file, read.moments);
      }
    }
  }
  return read;
}

void check_torch_optimizer(std::string_view optim) {
  constexpr std::string_view kLion = "lion_32bit";
  check(optim::optimizer_kind(optim).names.front() != kLion,
        "--save_format pytorch: PyTorch has no optimizer that could read the state of --optim {}; leave out "
        "--save_format or choose another --optim",
        optim);
}

void write_torch_optimizer(const std::filesystem::path& file, const TorchGroups& groups,
                           const optim::Optimizer::State& state, const TorchOptimizerSettings& settings) {
  io::TorchWriter writer(file);
  std::map<std::string, PickleValue::Dict> moments;  // by the parameter's name
  for (const auto& [name, values] : state) {
    const std::size_t dot = name.find('.');
    moments[name.substr(dot + 1)].items.emplace_back(name.substr(0, dot), writer.tensor(values));
  }
  PickleValue::Dict states;
  PickleValue::List param_groups;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    PickleValue::List numbers;
    for (const Parameter::Part& part : groups[i]) {
      PickleValue::Dict its_state;
      if (const auto step = step_of(settings, writer)) its_state.items.emplace_back("step", *step);
      for (auto& moment : moments[part.name].items) its_state.items.push_back(std::move(moment));
      if (!its_state.items.empty()) states.items.emplace_back(number, std::move(its_state));
      numbers.items.emplace_back(number++);
    }
    PickleValue::Dict group = settings_of_group(settings, i == 0);
    group.items.emplace_back("params", std::move(numbers));
    param_groups.items.emplace_back(std::move(group));
  }
  writer.commit(PickleValue::Dict{{{"state", std::move(states)}, {"param_groups", std::move(param_groups)}}});
}

}  // namespace hearth
