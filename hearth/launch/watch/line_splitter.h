#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hearth::launch {

// Cuts a stream into lines. A carriage return ends a line too, because progress bars of other programs use it. A line
// without an end is cut after 1 MiB.
class LineSplitter {
 public:
  using Take = std::function<void(std::string_view line)>;

  void feed(std::string_view bytes, const Take& take);
  void finish(const Take& take);  // hands over the last line if nothing ended it

 private:
  std::string rest_;
  bool after_return_ = false;
};

}  // namespace hearth::launch
