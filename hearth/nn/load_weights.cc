#include "hearth/nn/load_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/model_weights.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/cast.h"

namespace hearth::nn {
namespace {

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  if (names.size() <= kShown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kShown, ", "), names.size() - kShown);
}

bool is_narrow(DType type) { return type == DType::bf16 || type == DType::f16; }

bool is_exact_in(DType type, const Tensor& values) {
  const Tensor wide = ops::in_dtype(ops::in_dtype(values, type), DType::f32);
  return std::memcmp(wide.raw(), values.raw(), values.bytes()) == 0;
}

// Compares the weights of a folder with a model, and copies them into it.
class Loading {
 public:
  Loading(ModelBuilder& builder, const std::filesystem::path& folder, const LoadRules& rules)
      : builder_(builder), folder_(folder.string()), weights_(io::ModelWeights::open(folder)), rules_(rules) {}

  // Before the model takes memory, of which config.json may ask for any amount, and before any weight changes.
  void check_fit() {
    for (const auto& parameter : builder_.parameters.parameters())
      for (const Parameter::Part& part : parameter->parts) compare(part);
    std::vector<std::string> faults;
    if (!missing_.empty()) faults.push_back(fmt::format("missing {}", list(missing_)));
    if (!misshapen_.empty()) faults.push_back(list(misshapen_));
    check(
        faults.empty(), "the weights in {} do not fit {}: {}", folder_,
        rules_.model.empty() ? "this model" : fmt::format("a {} as {} describes it", rules_.model, rules_.config_file),
        fmt::join(faults, "; "));
    for (const auto& parameter : builder_.parameters.parameters())
      for (const Parameter::Part& part : parameter->parts)
        if (!is_new(part)) check_values(*stored_name(part.name));
  }

  void load(Parameter& parameter) const {
    if (!parameter.trainable) choose_dtype(parameter);
    for (const Parameter::Part& part : parameter.parts) load(parameter, part);
  }

  void report() const {
    std::vector<std::string> unused;
    for (const std::string& name : weights_.names())
      if (!used_.contains(name) && !name.ends_with("position_ids")) unused.push_back(name);
    if (!unused.empty())
      log_info("weights in {} that {} does not use: {}", folder_, rules_.model.empty() ? "this model" : rules_.model,
               list(unused));
    if (!new_.empty() && rules_.reports_new)
      log_info("{} does not have these weights, so they were newly initialised: {}; train the model before you use it",
               folder_, list(new_));
  }

 private:
  void compare(const Parameter::Part& part) {
    const std::optional<std::string> name = stored_name(part.name);
    const bool may_be_new = rules_.may_be_new && rules_.may_be_new(part.name);
    if (!name) return (may_be_new ? new_ : missing_).push_back(part.name);
    used_.insert(*name);
    if (const auto other = other_name(part.name)) used_.insert(*other);
    const std::vector<std::int64_t>& shape = weights_.shape(*name);
    if (std::ranges::equal(shape, part.shape.dims())) return;
    if (rules_.ignores_shapes && may_be_new) return new_.push_back(part.name);
    misshapen_.push_back(fmt::format("{} has shape ({}), but {} is needed{}", *name, fmt::join(shape, ", "),
                                     part.shape.to_string(),
                                     may_be_new ? " (--ignore_mismatched_sizes starts it anew)" : ""));
  }

  bool is_new(const Parameter::Part& part) const { return std::ranges::find(new_, part.name) != new_.end(); }

  void check_values(const std::string& name) const {
    const Tensor stored = weights_.tensor(name);
    check(stored.type() == DType::f32 || is_narrow(stored.type()),
          "{}: {} has dtype {}; weights must be float32, float16 or bfloat16", folder_, name,
          hearth::name_of(stored.type()));
    check(kernels::all_finite(stored.type(), stored.size(), stored.raw()),
          "{}: {} has weights that are NaN or infinite, which nothing can be trained from or predicted with: take an "
          "earlier checkpoint or download the model again",
          weights_.file_of(name), name);
  }

  void load(const Parameter& parameter, const Parameter::Part& part) const {
    const Tensor to = parameter.master_part(part);
    if (is_new(part)) return initialise(builder_, part.name, to, rules_.seed);
    const Tensor stored = weights_.tensor(*stored_name(part.name));
    kernels::convert(stored.type(), stored.raw(), to.type(), to.raw(), stored.size());
  }

  std::optional<std::string> stored_name(const std::string& name) const {
    if (auto found = weights_.stored_name(name)) return found;
    const std::string& prefix = rules_.optional_prefix;
    if (prefix.empty()) return other_name(name);
    const auto found = weights_.stored_name(name.starts_with(prefix) ? name.substr(prefix.size()) : prefix + name);
    return found ? found : other_name(name);
  }

  std::optional<std::string> other_name(const std::string& name) const {
    const auto other = rules_.other_names.find(name);
    return other == rules_.other_names.end() ? std::nullopt : weights_.stored_name(other->second);
  }

  // Of a frozen parameter.
  void choose_dtype(Parameter& parameter) const {
    std::set<DType> types;
    bool is_exact = is_narrow(parameter.master.type());
    for (const Parameter::Part& part : parameter.parts) {
      const Tensor stored = is_new(part) ? Tensor() : weights_.tensor(*stored_name(part.name));
      types.insert(stored.defined() ? stored.type() : DType::f32);
      is_exact =
          is_exact && stored.defined() && stored.type() == DType::f32 && is_exact_in(parameter.master.type(), stored);
    }
    const DType type = types.size() == 1 && is_narrow(*types.begin()) ? *types.begin() : DType::f32;
    if (!is_exact && type != parameter.master.type()) parameter.store_as(type);
  }

  ModelBuilder& builder_;
  std::string folder_;
  io::ModelWeights weights_;
  const LoadRules& rules_;
  std::vector<std::string> missing_, misshapen_, new_;
  std::set<std::string> used_;
};

}  // namespace

void load_weights(ModelBuilder& builder, const std::filesystem::path& folder, const LoadRules& rules) {
  Loading loading(builder, folder, rules);
  loading.check_fit();
  if (!builder.parameters.is_allocated()) builder.parameters.allocate();
  for (const auto& parameter : builder.parameters.parameters()) loading.load(*parameter);
  loading.report();
  builder.parameters.mark_changed();
}

}  // namespace hearth::nn
