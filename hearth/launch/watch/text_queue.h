#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace hearth::launch {

// Text on its way to descriptors of this process, in order. Nothing here waits for whoever reads it: a terminal that is
// paused or a full pipe must not make the launcher deaf. The descriptors stay as they are, because other processes may
// share them.
class TextQueue {
 public:
  void add(int descriptor, std::string_view text);
  void write_what_fits();  // as much as the readers take now
  int waits_for() const { return texts_.empty() ? -1 : texts_.front().descriptor; }
  bool is_full() const { return bytes_ > kMany; }  // a reason to read less from ranks

 private:
  struct Text {
    int descriptor;
    std::string rest;
  };
  static constexpr std::size_t kMany = 1 << 20, kMost = 4 << 20;  // bytes; what exceeds the most is dropped

  std::deque<Text> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace hearth::launch
