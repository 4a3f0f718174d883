#include "hearth/launch/watch/text_queue.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace hearth::launch {

void TextQueue::add(int descriptor, std::string_view text) {
  if (text.empty() || bytes_ + text.size() > kMost) return;
  texts_.push_back({descriptor, std::string(text)});
  bytes_ += text.size();
  write_what_fits();
}

// A pipe that poll() reports as writable takes PIPE_BUF bytes at once. Failures are ignored, as in write_text.
void TextQueue::write_what_fits() {
  while (!texts_.empty()) {
    Text& text = texts_.front();
    pollfd ready{text.descriptor, POLLOUT, 0};
    if (poll(&ready, 1, 0) == 0) return;
    const ssize_t count = write(text.descriptor, text.rest.data(), std::min<std::size_t>(text.rest.size(), PIPE_BUF));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    const std::size_t done = count < 0 ? text.rest.size() : static_cast<std::size_t>(count);
    text.rest.erase(0, done);
    bytes_ -= done;
    if (text.rest.empty()) texts_.pop_front();
  }
}

}  // namespace hearth::launch
