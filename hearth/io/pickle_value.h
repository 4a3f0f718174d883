#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hearth::io {

// A value of Python that a pickle can hold. Copies share the value.
class PickleValue {
 public:
  struct None {};
  struct List;
  struct Tuple;
  struct Dict;
  // The name of a class or function, "torch.FloatStorage". It is a name and no more: nothing is ever called.
  struct Global {
    std::string name;
  };

  PickleValue() : PickleValue(None{}) {}
  // NOLINTBEGIN(google-explicit-constructor): values are written as {"step", 3.0}
  PickleValue(None value);
  PickleValue(bool value);
  PickleValue(std::int64_t value);
  PickleValue(double value);
  PickleValue(std::string value);
  PickleValue(const char* value) : PickleValue(std::string(value)) {}
  PickleValue(Global value);
  PickleValue(List value);
  PickleValue(Tuple value);
  PickleValue(Dict value);
  // NOLINTEND(google-explicit-constructor)
  // What the reader of a file makes of a global with arguments: a tensor, say.
  static PickleValue object(std::any value);

  // Null if the value is of another type.
  template <class T>
  const T* get_if() const;
  // Null if the object is of another type.
  template <class T>
  const T* object_if() const {
    const std::any* const object = get_if<std::any>();
    return object == nullptr ? nullptr : std::any_cast<T>(object);
  }

  // The value of a key of a dict; null if there is none, or if this is not a dict. Of equal keys the last one counts.
  const PickleValue* find(std::string_view key) const;
  const PickleValue* find(std::int64_t key) const;

  // What it takes to walk over a value.
  struct Extent {
    int depth = 0;             // levels of lists, tuples and dicts
    std::uint64_t values = 1;  // with those within it; shared ones count each time
    void enclose(const Extent& item);
  };
  const Extent& extent() const;

 private:
  friend class PickleReader;
  struct Node;

  std::shared_ptr<Node> node_;
};

struct PickleValue::List {
  std::vector<PickleValue> items;
};
struct PickleValue::Tuple {
  std::vector<PickleValue> items;
};
struct PickleValue::Dict {
  std::vector<std::pair<PickleValue, PickleValue>> items;  // in the order of the file
};

struct PickleValue::Node {
  std::variant<None, bool, std::int64_t, double, std::string, List, Tuple, Dict, Global, std::any> data;
  Extent extent = {};
  bool closed = false;  // a list or dict that takes no more items
};

template <class T>
const T* PickleValue::get_if() const {
  return std::get_if<T>(&node_->data);
}

}  // namespace hearth::io
