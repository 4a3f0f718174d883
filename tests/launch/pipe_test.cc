#include "hearth/launch/start/pipe.h"

#include <sys/resource.h>

#include "tests/support.h"

namespace hearth::launch {
namespace {

TEST(Pipe, SaysWhyThereIsNone) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  errno = ENOENT;  // of an earlier call
  setrlimit(RLIMIT_NOFILE, &none);
  const std::string message = error_of([] { Pipe(); });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(message, "no pipe can be opened: Too many open files; raise `ulimit -n`");
}

}  // namespace
}  // namespace hearth::launch
