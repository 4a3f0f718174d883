#include "hearth/launch/watch/line_splitter.h"

namespace hearth::launch {
namespace {

constexpr std::size_t kLongest = 1 << 20;

}  // namespace

void LineSplitter::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_return_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    rest_.append(bytes.substr(0, end));
    if (end == bytes.npos) break;
    after_return_ = bytes[end] == '\r';
    if (!after_return_ || !rest_.empty()) take(rest_);
    rest_.clear();
    bytes.remove_prefix(end + 1);
  }
  if (rest_.size() > kLongest) finish(take);
}

void LineSplitter::finish(const Take& take) {
  if (!rest_.empty()) take(rest_);
  rest_.clear();
}

}  // namespace hearth::launch
