#include "hearth/train/torch_groups.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "hearth/optim/optimizer.h"

namespace hearth {
namespace {

// Sorts names as PyTorch walks the tree of modules: a module's own parameters come before those of its children, and
// children follow each other in the order of their first use. Stacked parameters, as query, key and value, are in
// another order here.
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
  std::size_t number_of(const std::string& path) { return numbers_.try_emplace(path, numbers_.size()).first->second; }

  std::map<std::string, std::size_t> numbers_;  // in the order of first use
};

// transformers 5 creates RoBERTa's table of positions after the layer norm of the embeddings.
void move_positions(std::vector<Parameter::Part>& group) {
  const auto is_of = [](std::string_view prefix) {
    return [=](const Parameter::Part& part) { return part.name.starts_with(prefix); };
  };
  const auto positions = std::ranges::find_if(group, is_of("roberta.embeddings.position_embeddings."));
  if (positions == group.end()) return;
  const auto after = std::find_if_not(positions, group.end(), is_of("roberta.embeddings."));
  std::rotate(positions, positions + 1, after);
}

}  // namespace

TorchGroups torch_groups(const ParameterStore& parameters, bool as_version_5) {
  TreeOrder order;
  std::array<std::vector<std::pair<TreeOrder::Key, Parameter::Part>>, 2> sorted;
  for (const Parameter* parameter : parameters.trainable())
    for (const Parameter::Part& part : parameter->parts)
      sorted[optim::decays(*parameter) ? 0 : 1].emplace_back(order.key_of(part.name), part);
  TorchGroups groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::ranges::sort(sorted[i], {}, [](const auto& item) -> const TreeOrder::Key& { return item.first; });
    for (auto& [key, part] : sorted[i]) groups[i].push_back(std::move(part));
    if (as_version_5) move_positions(groups[i]);
  }
  return groups;
}

}  // namespace hearth
