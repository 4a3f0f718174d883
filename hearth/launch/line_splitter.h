#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hearth::launch {

// Cuts a stream into lines. A carriage return ends one too, as progress bars use it; a line without an end is cut
// where it becomes too long to hold.
class LineSplitter {
 public:
  using Take = std::function<void(std::string_view line)>;

  void feed(std::string_view bytes, const Take& take);
  void finish(const Take& take);  // what the stream left without an end

 private:
  std::string rest_;
  bool after_return_ = false;
};

}  // namespace hearth::launch
