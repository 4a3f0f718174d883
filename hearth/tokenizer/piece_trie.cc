#include "hearth/tokenizer/piece_trie.h"

#include <algorithm>
#include <bit>

#include "hearth/base/check.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kMaxNodes = std::size_t{1} << 24;  // an edge's key holds a node and a byte in 32 bits

std::size_t count_edges(std::span<const std::string> tokens) {
  std::vector<std::string_view> sorted(tokens.begin(), tokens.end());
  std::ranges::sort(sorted);
  std::size_t count = 0;
  std::string_view previous;
  for (const std::string_view token : sorted) {
    const auto shared = std::ranges::mismatch(previous, token).in2 - token.begin();
    count += token.size() - static_cast<std::size_t>(shared);
    previous = token;
  }
  return count;
}

}  // namespace

PieceTrie::PieceTrie(std::span<const std::string> tokens) : tokens_{kNoToken} {
  const std::size_t edges = count_edges(tokens);
  check(edges < kMaxNodes,
        "a vocabulary of {} tokens is too large: its tokens have {} different beginnings, not under {}", tokens.size(),
        edges, kMaxNodes);
  edges_.resize(std::bit_ceil(2 * edges + 2));
  mask_ = edges_.size() - 1;
  shift_ = 64 - std::countr_zero(edges_.size());
  tokens_.reserve(edges + 1);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    Node node = kRoot;
    for (const char byte : tokens[id]) node = add_child(node, byte);
    tokens_[node] = static_cast<std::int32_t>(id);
  }
}

PieceTrie::Node PieceTrie::add_child(Node node, char byte) {
  const std::uint32_t key = key_of(node, byte);
  std::size_t at = place_of(key);
  while (edges_[at].child != kRoot && edges_[at].key != key) at = (at + 1) & mask_;
  if (edges_[at].child == kRoot) {
    edges_[at] = {key, static_cast<Node>(tokens_.size())};
    tokens_.push_back(kNoToken);
  }
  return edges_[at].child;
}

PieceTrie::Node PieceTrie::descend(Node node, std::string_view bytes) const {
  for (const char byte : bytes) {
    node = child(node, byte);
    if (node == kNowhere) break;
  }
  return node;
}

std::int32_t PieceTrie::find(std::string_view token) const {
  const Node node = descend(kRoot, token);
  return node == kNowhere || node == kRoot ? kNoToken : tokens_[node];
}

}  // namespace hearth::tokenizer
