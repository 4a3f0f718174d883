#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hearth/base/log.h"
#include "hearth/io/model_weights.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/models/pretrained.h"

namespace hearth::models {
namespace {

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  if (names.size() <= kShown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kShown, ", "), names.size() - kShown);
}

// Copies the weights of a folder into a model, and collects what does not fit.
class Loading {
 public:
  Loading(Pretrained& model, const std::filesystem::path& folder, std::uint64_t seed, bool ignores_shapes)
      : model_(model),
        folder_(folder.string()),
        weights_(io::ModelWeights::open(folder)),
        seed_(seed),
        ignores_shapes_(ignores_shapes) {}

  void load(Parameter& parameter) {
    if (const std::optional<DType> type = narrow_type(parameter)) parameter.store_as(*type);
    for (const Parameter::Part& part : parameter.parts) load(parameter, part);
  }

  void report() const {
    std::vector<std::string> faults;
    if (!missing_.empty()) faults.push_back(fmt::format("missing {}", list(missing_)));
    if (!misshapen_.empty()) faults.push_back(list(misshapen_));
    check(faults.empty(), "the weights in {} do not fit a {}: {}", folder_, model_.architecture(),
          fmt::join(faults, "; "));
    std::vector<std::string> unused;
    for (const std::string& name : weights_.names())
      if (!used_.contains(name) && !name.ends_with("position_ids")) unused.push_back(name);
    if (!unused.empty())
      log_info("weights in {} that {} does not use: {}", folder_, model_.architecture(), list(unused));
    if (!fresh_.empty())
      log_info("{} does not have these weights, so they were newly initialised: {}; train the model before you use it",
               folder_, list(fresh_));
  }

 private:
  void load(const Parameter& parameter, const Parameter::Part& part) {
    const std::optional<std::string> name = stored_name(part.name);
    const bool of_head = belongs_to_head(part.name);
    if (!name) {
      (of_head ? fresh_ : missing_).push_back(part.name);
      if (of_head) initialise(parameter, part);
      return;
    }
    used_.insert(*name);
    const Tensor stored = weights_.tensor(*name);
    if (stored.shape() != part.shape) return take_misshapen(parameter, part, *name, stored);
    check(stored.type() == DType::f32 || stored.type() == DType::bf16 || stored.type() == DType::f16,
          "{}: {} has dtype {}; weights must be float32, float16 or bfloat16", folder_, *name,
          hearth::name_of(stored.type()));
    const Tensor to = parameter.master_part(part);
    kernels::convert(stored.type(), stored.raw(), to.type(), to.raw(), stored.size());
  }

  void take_misshapen(const Parameter& parameter, const Parameter::Part& part, const std::string& name,
                      const Tensor& stored) {
    if (ignores_shapes_ && belongs_to_head(part.name)) {
      fresh_.push_back(part.name);
      return initialise(parameter, part);
    }
    misshapen_.push_back(fmt::format("{} has shape {}, but {} is needed{}", name, stored.shape().to_string(),
                                     part.shape.to_string(),
                                     belongs_to_head(part.name) ? " (--ignore_mismatched_sizes starts it anew)" : ""));
  }

  void initialise(const Parameter& parameter, const Parameter::Part& part) const {
    nn::initialise(model_.builder(), part.name, parameter.master_part(part), seed_);
  }

  std::optional<std::string> stored_name(const std::string& name) const {
    if (auto found = weights_.stored_name(name)) return found;
    const std::string& prefix = model_.prefix();
    return name.starts_with(prefix) ? weights_.stored_name(name.substr(prefix.size())) : std::nullopt;
  }

  bool belongs_to_head(std::string_view name) const {
    const std::string& prefix = model_.prefix();
    return !name.starts_with(prefix) || name.substr(prefix.size()).starts_with("pooler.");
  }

  // The 16-bit dtype in which the file has all of a frozen parameter, which then keeps it.
  std::optional<DType> narrow_type(const Parameter& parameter) const {
    if (parameter.trainable) return std::nullopt;
    std::set<DType> types;
    for (const Parameter::Part& part : parameter.parts) {
      const std::optional<std::string> name = stored_name(part.name);
      const Tensor stored = name ? weights_.tensor(*name) : Tensor();
      types.insert(stored.defined() && stored.shape() == part.shape ? stored.type() : DType::f32);
    }
    const DType type = *types.begin();
    return types.size() == 1 && (type == DType::bf16 || type == DType::f16) ? std::optional(type) : std::nullopt;
  }

  Pretrained& model_;
  std::string folder_;
  io::ModelWeights weights_;
  std::uint64_t seed_;
  bool ignores_shapes_;
  std::vector<std::string> missing_, misshapen_, fresh_;
  std::set<std::string> used_;
};

}  // namespace

void Pretrained::load_weights(const std::filesystem::path& folder, std::uint64_t seed, bool ignores_shapes) {
  Loading loading(*this, folder, seed, ignores_shapes);
  parameters().allocate();
  for (const auto& parameter : parameters().parameters()) loading.load(*parameter);
  loading.report();
  parameters().mark_changed();
}

}  // namespace hearth::models
