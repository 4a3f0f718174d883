#include "hearth/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"

namespace hearth::io {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string own_command() {
  std::string words = read_file("/proc/self/cmdline");
  if (words.ends_with('\0')) words.pop_back();
  std::ranges::replace(words, '\0', ' ');
  return words;
}

// ", pid 12 on host h since T,"; empty if the file does not tell, because its run is just writing it.
std::string holder(const std::filesystem::path& file) try {
  const Json json = read_json(file);
  const std::string name = file.string();
  return fmt::format(", pid {} on host {} since {},", get_int(json, "pid", name), get_string(json, "host", name),
                     get_string(json, "since", name));
} catch (const Error&) {
  return "";
}

// Whether the path still leads to the open file: the run before may have removed it in the meantime.
bool is_at(const std::filesystem::path& path, int descriptor) {
  struct stat open_file {
  }, found{};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &found) == 0 &&
         open_file.st_ino == found.st_ino && open_file.st_dev == found.st_dev;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view advice) : file_(folder / kLockFile) {
  while (!try_lock(advice)) ::close(descriptor_);
  const Json json{{"pid", ::getpid()}, {"host", host_name()}, {"since", local_time()}, {"command", own_command()}};
  const std::string text = dump_json(json, 2) + "\n";
  if (::ftruncate(descriptor_, 0) != 0) return;
  if (::pwrite(descriptor_, text.data(), text.size(), 0) < 0) return;  // a full disk; the lock holds all the same
}

bool FolderLock::try_lock(std::string_view advice) {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  check(descriptor_ >= 0, "Cannot write {}: {}", file_.string(), std::generic_category().message(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return is_at(file_, descriptor_);
  const int reason = errno;
  if (reason == EWOULDBLOCK) {
    ::close(descriptor_);
    fail("another run{} writes into {}: {}", holder(file_), file_.parent_path().string(), advice);
  }
  log_warning("{} cannot be locked ({}): nothing keeps a second run from writing into the same folder",
              file_.parent_path().string(), std::generic_category().message(reason));
  return true;
}

FolderLock::~FolderLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace hearth::io
