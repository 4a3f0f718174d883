#include "hearth/io/appended_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "hearth/base/check.h"

namespace hearth::io {
namespace {

void check_written(bool written, const std::filesystem::path& path) {
  const int error = errno;
  check(written, "Cannot write {}: {}", path.string(), std::generic_category().message(error));
}

}  // namespace

AppendedFile::AppendedFile(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  check_written(descriptor_ >= 0, path_);
}

AppendedFile::~AppendedFile() { ::close(descriptor_); }

void AppendedFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    check_written(written >= 0, path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace hearth::io
