#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"
#include "hearth/metrics/entities.h"

namespace hearth::metrics {
namespace {

constexpr std::string_view kNoType = "_";

struct Tag {
  char32_t letter = U'O';
  std::string_view type;
};

// The first character, and all that follows.
Tag split(std::string_view text) {
  check(!text.empty(), "a tag of a token is empty; use O for tokens outside of entities");
  std::size_t at = 0;
  const char32_t letter = io::next_code_point(text, at);
  check(letter != io::kNotUtf8, "a tag of a token is not valid UTF-8");
  return {letter, text.substr(at)};
}

// The type is what follows the first "-" after the letter, or else all that follows the letter: "B-A-B" has the type
// A-B, "BX" and "-X" have the type X, "B" and "I-" have the type _.
Tag lenient_tag(std::string_view text) {
  Tag tag = split(text);
  const std::size_t dash = tag.type.find('-');
  if (dash != tag.type.npos) tag.type.remove_prefix(dash + 1);
  if (tag.type.empty()) tag.type = kNoType;
  return tag;
}

bool ends_between(const Tag& previous, const Tag& tag) {
  switch (previous.letter) {
    case U'E':
    case U'S':
      return true;
    case U'B':
    case U'I':
      return tag.letter == U'B' || tag.letter == U'S' || tag.letter == U'O' || previous.type != tag.type;
    case U'O':
    case U'.':
      return false;
    default:
      return previous.type != tag.type;
  }
}

bool starts_between(const Tag& previous, const Tag& tag) {
  const bool after_end = previous.letter == U'E' || previous.letter == U'S' || previous.letter == U'O';
  switch (tag.letter) {
    case U'B':
    case U'S':
      return true;
    case U'I':
    case U'E':
      return after_end || previous.type != tag.type;
    case U'O':
    case U'.':
      return false;
    default:
      return previous.type != tag.type;
  }
}

// As seqeval, one pass over all sentences with an O after each: letters that are not of the scheme may make an entity
// that begins where the last one did, even in another sentence.
class LenientFinder {
 public:
  void add(std::string_view text) {
    const Tag tag = lenient_tag(text);
    if (ends_between(previous_, tag)) entities_.push_back({std::string(previous_.type), first_, at_ - 1});
    if (starts_between(previous_, tag)) first_ = at_;
    previous_ = tag;
    ++at_;
  }
  std::vector<Entity> take() { return std::move(entities_); }

 private:
  std::vector<Entity> entities_;
  Tag previous_;
  std::size_t first_ = 0, at_ = 0;
};

// The type is what follows the letter, without "-" at both ends.
Tag strict_tag(std::string_view text) {
  Tag tag = split(text);
  check(tag.letter == U'B' || tag.letter == U'I' || tag.letter == U'O',
        "the tag {} does not belong to IOB2, whose tags begin with B, I or O", text);
  while (tag.type.starts_with('-')) tag.type.remove_prefix(1);
  while (tag.type.ends_with('-')) tag.type.remove_suffix(1);
  if (tag.type.empty()) tag.type = kNoType;
  return tag;
}

class StrictFinder {
 public:
  void add(std::string_view text) {
    const Tag tag = strict_tag(text);
    const bool continues = open_ && tag.letter == U'I' && tag.type == entities_.back().type;
    if (continues) entities_.back().last = at_;
    if (tag.letter == U'B') entities_.push_back({std::string(tag.type), at_, at_});
    open_ = continues || tag.letter == U'B';
    ++at_;
  }
  std::vector<Entity> take() { return std::move(entities_); }

 private:
  std::vector<Entity> entities_;
  std::size_t at_ = 0;
  bool open_ = false;
};

template <class Finder>
std::vector<Entity> find_with(Finder finder, Sentences sentences) {
  for (const auto& sentence : sentences) {
    for (const std::string& tag : sentence) finder.add(tag);
    finder.add("O");
  }
  return finder.take();
}

}  // namespace

std::vector<Entity> find_entities(Sentences sentences, TagMode mode) {
  return mode == TagMode::lenient ? find_with(LenientFinder{}, sentences) : find_with(StrictFinder{}, sentences);
}

}  // namespace hearth::metrics
