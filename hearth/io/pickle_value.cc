#include "hearth/io/pickle_value.h"

#include <algorithm>

namespace hearth::io {
namespace {

PickleValue::Extent extent_of(const std::vector<PickleValue>& items) {
  PickleValue::Extent extent{1, 1};
  for (const PickleValue& item : items) extent.enclose(item.extent());
  return extent;
}

template <class Key>
const PickleValue* find_key(const PickleValue& value, const Key& matches) {
  const auto* const dict = value.get_if<PickleValue::Dict>();
  if (dict == nullptr) return nullptr;
  const auto found =
      std::find_if(dict->items.rbegin(), dict->items.rend(), [&](const auto& item) { return matches(item.first); });
  return found == dict->items.rend() ? nullptr : &found->second;
}

}  // namespace

PickleValue::PickleValue(None value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(bool value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(std::int64_t value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(double value) : node_(std::make_shared<Node>(Node{value})) {}
PickleValue::PickleValue(std::string value) : node_(std::make_shared<Node>(Node{std::move(value)})) {}
PickleValue::PickleValue(Global value) : node_(std::make_shared<Node>(Node{std::move(value)})) {}

PickleValue::PickleValue(List value) {
  const Extent extent = extent_of(value.items);
  node_ = std::make_shared<Node>(Node{std::move(value), extent});
}

PickleValue::PickleValue(Tuple value) {
  const Extent extent = extent_of(value.items);
  node_ = std::make_shared<Node>(Node{std::move(value), extent});
}

PickleValue::PickleValue(Dict value) {
  Extent extent{1, 1};
  for (const auto& [key, item] : value.items) {
    extent.enclose(key.extent());
    extent.enclose(item.extent());
  }
  node_ = std::make_shared<Node>(Node{std::move(value), extent});
}

void PickleValue::Extent::enclose(const Extent& item) {
  depth = std::max(depth, 1 + item.depth);
  values += item.values;
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

const PickleValue::Extent& PickleValue::extent() const { return node_->extent; }

}  // namespace hearth::io
