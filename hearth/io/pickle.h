#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/pickle_value.h"

namespace hearth::io {

// What a reader of pickles makes of the names in them. Each function throws an Error for what it does not know.
struct PickleRules {
  // Called for each name of a class or function ("collections.OrderedDict") before anything is made of it.
  std::function<void(const std::string& global)> check_global;
  // The value that a call of `global` stands for. Nothing is called in fact.
  std::function<PickleValue(const std::string& global, const std::vector<PickleValue>& arguments)> make;
  // The value that lies outside of the pickle under this id.
  std::function<PickleValue(const PickleValue& id)> find_persistent;
};

struct ReadPickle {
  PickleValue value;
  std::size_t size = 0;  // bytes of the pickle
};

// Reads the pickle at the beginning of `bytes`. It takes the opcodes that torch.save writes (protocol 2) and refuses
// all others by name, as it does lists and dicts that contain themselves. `file` is the name of the file in errors.
ReadPickle read_pickle(std::string_view bytes, const std::string& file, const PickleRules& rules);

// Objects that write_pickle() takes: a call that Python makes when it reads the pickle, and a value that lies outside.
struct PickleCall {
  std::string global;  // "collections.OrderedDict"
  std::vector<PickleValue> arguments;
};
struct PersistentId {
  PickleValue id;
};

// The bytes of a value in protocol 2.
std::string write_pickle(const PickleValue& value);

}  // namespace hearth::io
