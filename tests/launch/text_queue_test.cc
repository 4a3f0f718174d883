#include "hearth/launch/watch/text_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hearth/launch/start/pipe.h"

namespace hearth::launch {
namespace {

std::string read_from(const Pipe& pipe) {
  std::string text(1 << 16, '\0');
  const ssize_t count = read(pipe.reader(), text.data(), text.size());
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text;
}

TEST(TextQueue, NeverWaitsForAReader) {
  const Pipe pipe, other;
  TextQueue queue;
  std::string expected;
  for (int line = 0; !queue.is_full(); ++line) {
    const std::string text = std::to_string(line) + std::string(7000, '.') + "\n";
    queue.add(pipe.writer(), text);  // would never return if it waited
    expected += text;
  }
  queue.add(other.writer(), "after all that");
  EXPECT_EQ(queue.waits_for(), pipe.writer());
  std::string got;
  while (queue.waits_for() == pipe.writer() || got.size() < expected.size()) {
    got += read_from(pipe);
    queue.write_what_fits();
  }
  EXPECT_EQ(got == expected, true);
  EXPECT_EQ(read_from(other), "after all that");
  EXPECT_EQ(queue.waits_for(), -1);
}

TEST(TextQueue, DropsWhatNobodyWillRead) {
  const Pipe pipe;
  TextQueue queue;
  const std::string text(1 << 20, '.');
  for (int i = 0; i < 100; ++i) queue.add(pipe.writer(), text);
  std::size_t bytes = 0;
  for (; queue.waits_for() >= 0; queue.write_what_fits()) bytes += read_from(pipe).size();
  EXPECT_LE(bytes, std::size_t{5} << 20);
}

TEST(TextQueue, ForgetsTheTextOfAClosedDescriptor) {
  Pipe pipe;
  const int writer = pipe.writer();
  pipe.close_reader();
  pipe.close_writer();
  TextQueue queue;
  queue.add(writer, "nobody");
  EXPECT_EQ(queue.waits_for(), -1);
}

}  // namespace
}  // namespace hearth::launch
