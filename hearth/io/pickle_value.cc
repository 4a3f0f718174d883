#include "hearth/io/pickle_value.h"

#include <algorithm>
#include <ranges>

namespace hearth::io {
namespace {

int deepest(const std::vector<PickleValue>& items) {
  int depth = 0;
  for (const PickleValue& item : items) depth = std::max(depth, item.depth());
  return depth;
}

template <class Key>
const PickleValue* find_key(const PickleValue& value, const Key& matches) {
  const auto* const dict = value.get_if<PickleValue::Dict>();
  if (dict == nullptr) return nullptr;
  for (const auto& [key, found] : std::views::reverse(dict->items))
    if (matches(key)) return &found;
  return nullptr;
}

}  // namespace

PickleValue::PickleValue(None value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(bool value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(std::int64_t value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(double value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(std::string value) : node_(std::make_shared<Node>(Node{std::move(value)})) {}
PickleValue::PickleValue(Global value) : node_(std::make_shared<Node>(Node{std::move(value)})) {}

PickleValue::PickleValue(List value) {
  const int depth = 1 + deepest(value.items);
  node_ = std::make_shared<Node>(Node{std::move(value), depth});
}

PickleValue::PickleValue(Tuple value) {
  const int depth = 1 + deepest(value.items);
  node_ = std::make_shared<Node>(Node{std::move(value), depth});
}

PickleValue::PickleValue(Dict value) {
  int depth = 0;
  for (const auto& [key, item] : value.items) depth = std::max({depth, key.depth(), item.depth()});
  node_ = std::make_shared<Node>(Node{std::move(value), 1 + depth});
}

PickleValue PickleValue::object(std::any value) {
  PickleValue made;
  made.node_->data = std::move(value);
  return made;
}

const PickleValue* PickleValue::find(std::string_view key) const {
  return find_key(*this, [&](const PickleValue& each) {
    const auto* const name = each.get_if<std::string>();
    return name != nullptr && *name == key;
  });
}

const PickleValue* PickleValue::find(std::int64_t key) const {
  return find_key(*this, [&](const PickleValue& each) {
    const auto* const number = each.get_if<std::int64_t>();
    return number != nullptr && *number == key;
  });
}

int PickleValue::depth() const { return node_->depth; }

}  // namespace hearth::io
