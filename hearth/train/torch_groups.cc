#include "hearth/train/torch_groups.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "hearth/optim/optimizer.h"

namespace hearth {
namespace {

// Modules that transformers creates before the others of their parent, though it runs them later: the layer norms of
// ALBERT's layers and of the masked language models of ALBERT and ELECTRA.
bool is_created_first(std::string_view path) {
  return path.ends_with(".full_layer_layer_norm.") || path == "predictions.LayerNorm." ||
         path == "generator_predictions.LayerNorm.";
}

// Sorts names as PyTorch walks the tree of modules: a module's own parameters come before those of its children, and
// children follow each other in the order of their first use, but for those that are created first. Stacked parameters,
// as query, key and value, are in another order here.
class TreeOrder {
 public:
  using Key = std::vector<std::pair<bool, std::size_t>>;  // per level: whether it is a module, and its number

  Key key_of(const std::string& name) {
    Key key;
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
      key.emplace_back(true, number_of(name.substr(0, dot + 1)));
    key.emplace_back(false, number_of(name));
    return key;
  }

 private:
  std::size_t number_of(const std::string& path) {
    return is_created_first(path) ? 0 : numbers_.try_emplace(path, numbers_.size() + 1).first->second;
  }

  std::map<std::string, std::size_t> numbers_;  // in the order of first use, from 1
};

using Group = std::vector<Parameter::Part>;

constexpr std::string_view kEncoder = "roberta.", kEmbeddings = "roberta.embeddings.",
                           kWords = "roberta.embeddings.word_embeddings.",
                           kPositions = "roberta.embeddings.position_embeddings.", kMaskedLm = "lm_head.";

auto is_of(std::string_view prefix) {
  return [=](const Parameter::Part& part) { return part.name.starts_with(prefix); };
}

void move_positions(Group& group) {
  const auto positions = std::ranges::find_if(group, is_of(kPositions));
  if (positions == group.end()) return;
  std::rotate(positions, positions + 1, std::find_if_not(positions, group.end(), is_of(kEmbeddings)));
}

void move_head(Group& group) {
  const bool is_tied = std::ranges::any_of(group, is_of(kMaskedLm));
  const auto is_of_encoder = [&](const Parameter::Part& part) {
    return is_of(kEncoder)(part) && !(is_tied && is_of(kWords)(part));
  };
  const auto encoder = std::stable_partition(group.begin(), group.end(), std::not_fn(is_of_encoder));
  std::stable_partition(group.begin(), encoder, std::not_fn(is_of(kWords)));
}

}  // namespace

TorchOrder order_of_version_5(std::string_view architecture) {
  return architecture.starts_with("XLMRoberta") ? TorchOrder::xlm_roberta_5 : TorchOrder::roberta_5;
}

TorchGroups torch_groups(const ParameterStore& parameters, TorchOrder torch_order) {
  TreeOrder order;
  std::array<std::vector<std::pair<TreeOrder::Key, Parameter::Part>>, 2> sorted;
  for (const Parameter* parameter : parameters.trainable())
    for (const Parameter::Part& part : parameter->parts)
      sorted[optim::decays(*parameter) ? 0 : 1].emplace_back(order.key_of(part.name), part);
  TorchGroups groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::ranges::sort(sorted[i], {}, [](const auto& item) -> const TreeOrder::Key& { return item.first; });
    for (auto& [key, part] : sorted[i]) groups[i].push_back(std::move(part));
    if (torch_order != TorchOrder::version_4) move_positions(groups[i]);
    if (torch_order == TorchOrder::xlm_roberta_5) move_head(groups[i]);
  }
  return groups;
}

}  // namespace hearth
