#include "hearth/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "hearth/base/error.h"

namespace hearth::io {
namespace {

bool is_resource(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM || error == EMFILE || error == ENFILE;
}

[[noreturn]] void fail_to(std::string_view act, const std::filesystem::path& path, int error) {
  const std::string sentence =
      fmt::format("Cannot {} {}: {}{}", act, path.string(), std::generic_category().message(error),
                  error == EMFILE ? "; raise `ulimit -n`" : "");
  if (is_resource(error)) throw ResourceError(sentence);
  throw Error(sentence);
}

[[noreturn]] void fail_reading(const std::filesystem::path& path, int error) { fail_to("read", path, error); }
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error) { fail_to("write", path, error); }

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail_reading(path, errno);
    if (::fstat(descriptor_, &status_) != 0) {
      const int error = errno;
      ::close(descriptor_);
      fail_reading(path, error);
    }
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::size_t size() const { return static_cast<std::size_t>(status_.st_size); }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_folder() const { return S_ISDIR(status_.st_mode); }

 private:
  int descriptor_;
  struct stat status_ {};
};

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() / fmt::format(".{}.tmp-{}-{}", path.filename().string(), ::getpid(), count++);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const OpenFile file(path);
  if (file.is_folder()) fail_reading(path, EISDIR);
  check(file.is_regular(), "Cannot read {}: it is not a regular file", path.string());
  size_ = file.size();
  if (size_ == 0) return;
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) fail_reading(path, errno);
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  check(path.has_filename(), "Cannot write \"{}\": it names no file", path.string());
  do {  // a killed process may have left a temporary file of the same name
    temporary_ = temporary_beside(path);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_writing(path, errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(descriptor_ >= 0, "[AtomicFile::write] {} is committed already", path_.string());
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  check(descriptor_ >= 0, "[AtomicFile::commit] {} is committed already", path_.string());
  if (::fsync(descriptor_) != 0) fail_writing(path_, errno);
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail_writing(path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(path_, errno);
  temporary_.clear();
  sync_folder(path_.parent_path());
}

std::string read_file(const std::filesystem::path& path) {
  const OpenFile file(path);
  std::string contents(file.size() + 1, '\0');  // one byte more, so that the end of the file is seen without growing
  std::size_t filled = 0;
  for (;;) {
    if (filled == contents.size()) contents.resize(2 * contents.size());
    const ssize_t got = ::read(file.descriptor(), contents.data() + filled, contents.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  contents.resize(filled);
  return contents;
}

void replace_file(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void create_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check(!error, "Cannot create the folder {}: {}", path.string(), error.message());
}

void check_readable(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) fail_reading(file, errno);
  if (S_ISDIR(status.st_mode)) fail_reading(file, EISDIR);
  check(S_ISREG(status.st_mode), "Cannot read {}: it is not a regular file",
        file.string());  // a pipe is read only once
  const OpenFile opens(file);
}

void check_writable(const std::filesystem::path& folder) {
  const int refused = faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS);
  check(refused == 0, "Cannot write into the folder {}: {}", folder.string(), std::generic_category().message(errno));
}

}  // namespace hearth::io
