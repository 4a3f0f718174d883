#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tokenizer {

// A trie from tokens to ids, walked byte by byte. All edges are in one open-addressing hash table.
class PieceTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNowhere = UINT32_MAX;
  static constexpr std::int32_t kNoToken = -1;

  // A token's id is its index; if two are equal, the last counts. Empty strings are not tokens.
  explicit PieceTrie(std::span<const std::string> tokens);

  std::int32_t token(Node node) const { return tokens_[node]; }
  std::int32_t find(std::string_view token) const;
  Node descend(Node node, std::string_view bytes) const;
  Node child(Node node, char byte) const {
    const std::uint32_t key = key_of(node, byte);
    for (std::size_t at = place_of(key);; at = (at + 1) & mask_) {
      const Edge& edge = edges_[at];
      if (edge.key == key && edge.child != kRoot) return edge.child;
      if (edge.child == kRoot) return kNowhere;
    }
  }

  // Calls use(end, id) for every token that is text[begin, end), the shortest first.
  template <class Use>
  void for_each_token(std::string_view text, std::size_t begin, const Use& use) const {
    Node node = kRoot;
    for (std::size_t at = begin; at < text.size();) {
      node = child(node, text[at++]);
      if (node == kNowhere) return;
      if (tokens_[node] != kNoToken) use(at, tokens_[node]);
    }
  }

 private:
  struct Edge {
    std::uint32_t key = 0;
    Node child = kRoot;  // kRoot: no edge here
  };

  static std::uint32_t key_of(Node node, char byte) { return node << 8 | static_cast<unsigned char>(byte); }
  std::size_t place_of(std::uint32_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }
  Node add_child(Node node, char byte);

  std::vector<Edge> edges_;  // its size is a power of two, at most half of it in use
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::vector<std::int32_t> tokens_;  // by node
};

}  // namespace hearth::tokenizer
