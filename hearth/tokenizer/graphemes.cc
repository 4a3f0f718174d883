#include "hearth/tokenizer/graphemes.h"

#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr char32_t kZeroWidthJoiner = 0x200D, kFirstFlag = 0x1F1E6, kLastFlag = 0x1F1FF;

enum class Jamo { none, lead, vowel, final_consonant, open_syllable, closed_syllable };

Jamo jamo_of(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  if (within(0x1100, 0x115F) || within(0xA960, 0xA97C)) return Jamo::lead;
  if (within(0x1160, 0x11A7) || within(0xD7B0, 0xD7C6)) return Jamo::vowel;
  if (within(0x11A8, 0x11FF) || within(0xD7CB, 0xD7FB)) return Jamo::final_consonant;
  if (within(0xAC00, 0xD7A3)) return (c - 0xAC00) % 28 == 0 ? Jamo::open_syllable : Jamo::closed_syllable;
  return Jamo::none;
}

bool syllable_goes_on(char32_t before, char32_t after) {
  const Jamo first = jamo_of(before), second = jamo_of(after);
  switch (first) {
    case Jamo::none:
      return false;
    case Jamo::lead:
      return second != Jamo::none && second != Jamo::final_consonant;
    case Jamo::vowel:
    case Jamo::open_syllable:
      return second == Jamo::vowel || second == Jamo::final_consonant;
    case Jamo::final_consonant:
    case Jamo::closed_syllable:
      return second == Jamo::final_consonant;
  }
  return false;
}

// What a cluster has been up to the current character.
class Cluster {
 public:
  explicit Cluster(char32_t first) { add(first); }

  bool takes(char32_t c) const {
    if (last_ == U'\r' && c == U'\n') return true;
    if (has_trait(last_, kClusterControl) || has_trait(c, kClusterControl)) return false;
    if (has_trait(c, kClusterExtender) || has_trait(last_, kClusterPrepend)) return true;
    if (has_trait(c, kConjunctConsonant) && after_linked_consonant_) return true;
    if (has_trait(c, kPictograph) && picture_ == Picture::joined) return true;
    if (is_flag(c) && is_flag(last_)) return flags_ % 2 == 1;
    return syllable_goes_on(last_, c);
  }
  void add(char32_t c) {
    flags_ = is_flag(c) ? flags_ + 1 : 0;
    if (has_trait(c, kConjunctConsonant)) {
      after_consonant_ = true;
      after_linked_consonant_ = false;
    } else if (has_trait(c, kConjunctLinker)) {
      after_linked_consonant_ = after_consonant_;
    } else if (!has_trait(c, kConjunctExtender)) {
      after_consonant_ = after_linked_consonant_ = false;
    }
    if (has_trait(c, kPictograph))
      picture_ = Picture::open;
    else if (c == kZeroWidthJoiner)
      picture_ = picture_ == Picture::open ? Picture::joined : Picture::none;
    else if (!has_trait(c, kClusterExtender) || picture_ == Picture::joined)
      picture_ = Picture::none;
    last_ = c;
  }

 private:
  enum class Picture { none, open, joined };  // joined: a zero-width joiner stands behind the pictograph

  static bool is_flag(char32_t c) { return kFirstFlag <= c && c <= kLastFlag; }

  char32_t last_ = 0;
  int flags_ = 0;
  bool after_consonant_ = false, after_linked_consonant_ = false;
  Picture picture_ = Picture::none;
};

}  // namespace

std::size_t cluster_end(std::span<const Character> characters, std::size_t begin) {
  Cluster cluster(characters[begin].value);
  std::size_t end = begin + 1;
  for (; end < characters.size() && cluster.takes(characters[end].value); ++end) cluster.add(characters[end].value);
  return end;
}

}  // namespace hearth::tokenizer
