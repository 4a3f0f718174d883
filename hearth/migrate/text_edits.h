#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::migrate {

// Replacements in a text, by places of the old text. They do not overlap.
class TextEdits {
 public:
  void replace(std::size_t begin, std::size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
  }
  void remove(std::size_t begin, std::size_t end) { replace(begin, end, ""); }
  void add(const TextEdits& others) { edits_.insert(edits_.end(), others.edits_.begin(), others.edits_.end()); }

  std::string applied_to(std::string_view text) const;

 private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace hearth::migrate
