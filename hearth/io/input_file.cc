#include "hearth/io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

[[noreturn]] void fail_reading(const std::filesystem::path& path, int error) {
  fail("Cannot read {}: {}", path.string(), std::generic_category().message(error));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  check_readable(path);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_reading(path, errno);
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail_reading(path, error);
  }
  size_ = static_cast<std::uint64_t>(found.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(std::span<std::byte> into) {
  const std::size_t got = read_from(at_, into);
  at_ += got;
  return got;
}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  check(read_from(offset, into) == into.size(), "{} is cut short: {} bytes are needed from byte {} on", path_.string(),
        into.size(), offset);
}

std::size_t InputFile::read_from(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got =
        ::pread(descriptor_, into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(path_, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace hearth::io
