#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hearth::tokenizer {

// Two tokens that stand next to each other. Pairs are ordered by the left id, then by the right.
using PairKey = std::uint64_t;

inline PairKey pair_key(std::int32_t left, std::int32_t right) {
  return PairKey{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}
inline std::int32_t left_of(PairKey key) { return static_cast<std::int32_t>(key >> 32); }
inline std::int32_t right_of(PairKey key) { return static_cast<std::int32_t>(key & UINT32_MAX); }

// From pairs of ids to values: open addressing, at most half full.
template <class Value>
class PairTable {
 public:
  const Value* find(PairKey key) const {
    for (std::size_t at = place_of(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return &slots_[at].value;
      if (slots_[at].key == kEmpty) return nullptr;
    }
  }
  // A pair that is not in the table is added with the value Value{}. The reference is valid until the next call.
  Value& operator[](PairKey key) {
    if (2 * (size_ + 1) > slots_.size()) resize(2 * slots_.size());
    Slot& slot = slots_[slot_of(key)];
    if (slot.key == kEmpty) {
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }
  void reserve(std::size_t pairs) {
    if (2 * pairs > slots_.size()) resize(std::bit_ceil(2 * pairs));
  }
  template <class Use>
  void for_each(const Use& use) const {
    for (const Slot& slot : slots_)
      if (slot.key != kEmpty) use(slot.key, slot.value);
  }

 private:
  static constexpr PairKey kEmpty = UINT64_MAX;
  struct Slot {
    PairKey key = kEmpty;
    Value value{};
  };

  std::size_t place_of(PairKey key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }
  std::size_t slot_of(PairKey key) const {
    std::size_t at = place_of(key);
    while (slots_[at].key != kEmpty && slots_[at].key != key) at = (at + 1) & mask_;
    return at;
  }
  void resize(std::size_t slots) {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
    mask_ = slots - 1;
    shift_ = 64 - std::countr_zero(slots);
    for (Slot& slot : before)
      if (slot.key != kEmpty) slots_[slot_of(slot.key)] = std::move(slot);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(2);
  std::size_t size_ = 0, mask_ = 1;
  int shift_ = 63;
};

}  // namespace hearth::tokenizer
