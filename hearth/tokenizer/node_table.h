#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

// Nodes of tokenizer.json: an object with a "type", or a sequence of such objects.
namespace hearth::tokenizer {

// One row per type of node.
template <class Node>
struct NodeType {
  std::string_view name;
  std::unique_ptr<Node> (*make)(const io::Json& node, const std::string& where);
};

inline std::string type_of_node(const io::Json& node, const std::string& where) {
  check(node.is_object(), "{} must be an object with a \"type\", found {}", where, io::excerpt(node));
  return io::get_string(node, "type", where);
}

// The name of a node in errors: "tokenizer.json: the normalizer Strip".
inline std::string name_of_node(const std::string& where, std::string_view type) {
  return fmt::format("{} {}", where, type);
}

template <class Node, class Types>
std::unique_ptr<Node> make_node(const Types& types, const io::Json& node, const std::string& where) {
  const std::string type = type_of_node(node, where);
  for (const NodeType<Node>& known : types)
    if (known.name == type) return known.make(node, name_of_node(where, type));
  fail("{} {} is not supported", where, type);
}

// The nodes in the list `key` of a sequence. Each level of nesting makes `where` longer, which bounds the depth.
inline const io::Json& nodes_of(const io::Json& sequence, std::string_view key, const std::string& where) {
  constexpr std::size_t kMostLevels = 16;
  std::size_t levels = 0;
  for (std::size_t at = where.find(" Sequence"); at != where.npos; at = where.find(" Sequence", at + 1)) ++levels;
  check(levels <= kMostLevels, "{}: sequences are nested more than {} levels deep", where.substr(0, where.find(" Seq")),
        kMostLevels);
  const auto nodes = sequence.find(key);
  check(nodes != sequence.end() && nodes->is_array(), "{}: \"{}\" must be a list", where, key);
  return *nodes;
}

}  // namespace hearth::tokenizer
