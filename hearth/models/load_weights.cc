#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hearth/base/check.h"
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

// Compares the weights of a folder with a model, and copies them into it.
class Loading {
 public:
  Loading(Pretrained& model, const std::filesystem::path& folder, std::uint64_t seed, bool ignores_shapes)
      : model_(model),
        folder_(folder.string()),
        weights_(io::ModelWeights::open(folder)),
        seed_(seed),
        ignores_shapes_(ignores_shapes) {}

  // Before the model takes memory: config.json may ask for any amount of it.
  void check_fit() {
    for (const auto& parameter : model_.parameters().parameters())
      for (const Parameter::Part& part : parameter->parts) compare(part);
    std::vector<std::string> faults;
    if (!missing_.empty()) faults.push_back(fmt::format("missing {}", list(missing_)));
    if (!misshapen_.empty()) faults.push_back(list(misshapen_));
    check(faults.empty(), "the weights in {} do not fit a {} as {} describes it: {}", folder_, model_.architecture(),
          model_.config().file(), fmt::join(faults, "; "));
  }

  void load(Parameter& parameter) {
    if (const std::optional<DType> type = narrow_type(parameter)) parameter.store_as(*type);
    for (const Parameter::Part& part : parameter.parts) load(parameter, part);
  }

  void report() const {
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
  void compare(const Parameter::Part& part) {
    const std::optional<std::string> name = stored_name(part.name);
    const bool of_head = belongs_to_head(part.name);
    if (!name) return (of_head ? fresh_ : missing_).push_back(part.name);
    used_.insert(*name);
    const std::vector<std::int64_t>& shape = weights_.entry(*name).shape;
    if (std::ranges::equal(shape, part.shape.dims())) return;
    if (ignores_shapes_ && of_head) return fresh_.push_back(part.name);
    misshapen_.push_back(fmt::format("{} has shape ({}), but {} is needed{}", *name, fmt::join(shape, ", "),
                                     part.shape.to_string(),
                                     of_head ? " (--ignore_mismatched_sizes starts it anew)" : ""));
  }

  void load(const Parameter& parameter, const Parameter::Part& part) {
    if (std::ranges::find(fresh_, part.name) != fresh_.end())
      return nn::initialise(model_.builder(), part.name, parameter.master_part(part), seed_);
    const std::string name = *stored_name(part.name);
    const Tensor stored = weights_.tensor(name);
    check(stored.type() == DType::f32 || stored.type() == DType::bf16 || stored.type() == DType::f16,
          "{}: {} has dtype {}; weights must be float32, float16 or bfloat16", folder_, name,
          hearth::name_of(stored.type()));
    check(kernels::all_finite(stored.type(), stored.size(), stored.raw()),
          "{}: {} has weights that are NaN or infinite, which nothing can be trained from or predicted with: take an "
          "earlier checkpoint or download the model again",
          weights_.file_of(name), name);
    const Tensor to = parameter.master_part(part);
    kernels::convert(stored.type(), stored.raw(), to.type(), to.raw(), stored.size());
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
  loading.check_fit();
  parameters().allocate();
  for (const auto& parameter : parameters().parameters()) loading.load(*parameter);
  loading.report();
  parameters().mark_changed();
}

}  // namespace hearth::models
