#include "hearth/hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/timer.h"
#include "hearth/io/file.h"

namespace hearth::hub {
namespace {

using namespace std::chrono_literals;

constexpr auto kPause = 50ms;
constexpr double kMessageSeconds = 10;

}  // namespace

FileLock::FileLock(const std::filesystem::path& file, const std::string& purpose) {
  io::create_directories(file.parent_path());
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  check(descriptor_ >= 0, "Cannot write {}: {}", file.string(), std::generic_category().message(errno));
  Timer since_message;
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      log_warning("{} cannot be locked ({}): two processes may download the same file", file.string(),
                  std::generic_category().message(errno));
      return;
    }
    std::this_thread::sleep_for(kPause);
    if (since_message.seconds() < kMessageSeconds) continue;
    log_info("waiting for another process, which {}", purpose);
    since_message.restart();
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace hearth::hub
