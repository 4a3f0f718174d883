#include "hearth/io/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"

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

void check_regular(const struct stat& status, const std::filesystem::path& path) {
  if (S_ISDIR(status.st_mode)) fail_reading(path, EISDIR);
  check(S_ISREG(status.st_mode), "Cannot read {}: it is not a regular file but {}", path.string(),
        S_ISFIFO(status.st_mode)   ? "a pipe"
        : S_ISSOCK(status.st_mode) ? "a socket"
                                   : "a device");
}

// A descriptor for reading, closed at the end.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    if (number_ < 0) fail_reading(path, errno);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  struct stat status(const std::filesystem::path& path) const {
    struct stat found {};
    if (::fstat(number_, &found) != 0) fail_reading(path, errno);
    return found;
  }

 private:
  int number_;
};

// A regular file; anything else is refused before it is opened, because opening a pipe waits for a writer and opening a
// device may do anything. The second look is at the file that was opened in fact.
class OpenFile : public Descriptor {
 public:
  explicit OpenFile(const std::filesystem::path& path) : Descriptor(regular(path), O_NONBLOCK) {
    const struct stat found = status(path);
    check_regular(found, path);
    size_ = static_cast<std::size_t>(found.st_size);
  }
  std::size_t size() const { return size_; }

 private:
  static const std::filesystem::path& regular(const std::filesystem::path& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) fail_reading(path, errno);
    check_regular(found, path);
    return path;
  }

  std::size_t size_ = 0;
};

// Reads until the buffer is full or the file ends; returns the number of bytes.
std::size_t read_into(std::span<char> buffer, const Descriptor& file, const std::filesystem::path& path) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::read(file.number(), buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::string read_all(const Descriptor& file, std::size_t expected, const std::filesystem::path& path) {
  std::string contents(expected + 1, '\0');  // one byte more, so that the end of the file is seen without growing
  std::size_t filled = 0;
  for (;;) {
    filled += read_into(std::span(contents).subspan(filled), file, path);
    if (filled < contents.size()) break;
    contents.resize(2 * contents.size());
  }
  contents.resize(filled);
  return contents;
}

constexpr std::string_view kTemporary = ".tmp-";

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() / fmt::format(".{}{}{}-{}", path.filename().string(), kTemporary, ::getpid(), count++);
}

bool is_temporary(const std::string& name) {
  const std::size_t mark = name.rfind(kTemporary);
  if (!name.starts_with('.') || mark == name.npos) return false;
  const std::string_view numbers = std::string_view(name).substr(mark + kTemporary.size());
  const std::size_t dash = numbers.find('-');
  return dash != numbers.npos && whole_number<unsigned>(numbers.substr(0, dash)) &&
         whole_number<unsigned>(numbers.substr(dash + 1));
}

// False: remove_abandoned_files() was quicker. A file system that cannot lock keeps abandoned files, and nothing else.
bool lock_temporary(int descriptor) {
  struct stat status {};
  const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return !taken && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const OpenFile file(path);
  size_ = file.size();
  if (size_ == 0) return;
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (memory == MAP_FAILED) fail_reading(path, errno);
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  check(path.has_filename(), "Cannot write \"{}\": it names no file", path.string());
  for (;;) {
    temporary_ = temporary_beside(path);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) continue;  // a killed process left a temporary file of the same name
    if (descriptor_ < 0) fail_writing(path, errno);
    if (lock_temporary(descriptor_)) return;
    ::close(descriptor_);
  }
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

void AtomicFile::commit(Sync sync) {
  check(descriptor_ >= 0, "[AtomicFile::commit] {} is committed already", path_.string());
  if (sync == Sync::to_disk && ::fsync(descriptor_) != 0) fail_writing(path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(path_, errno);
  temporary_.clear();
  ::close(std::exchange(descriptor_, -1));  // after the rename, because closing ends the lock
  if (sync == Sync::to_disk) sync_folder(path_.parent_path());
}

std::string read_file(const std::filesystem::path& path) {
  const OpenFile file(path);
  return read_all(file, file.size(), path);
}

std::string read_stream(const std::filesystem::path& path) {
  const Descriptor stream(path, 0);
  const struct stat found = stream.status(path);
  if (!S_ISFIFO(found.st_mode) && ::isatty(stream.number()) == 0) check_regular(found, path);
  return read_all(stream, 0, path);
}

void read_in_pieces(const std::filesystem::path& path, const std::function<void(std::span<const std::byte>)>& take) {
  const OpenFile file(path);
  std::vector<char> buffer(1 << 20);
  for (std::size_t size = buffer.size(); size == buffer.size();) {
    size = read_into(buffer, file, path);
    take(std::as_bytes(std::span(buffer)).first(size));
  }
}

void replace_file(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

void renew_file(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit(AtomicFile::Sync::later);
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void remove_abandoned_files(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!is_temporary(entry.path().filename().string()) || !entry.is_regular_file(error)) continue;
    const int descriptor = ::open(entry.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

void create_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check(!error, "Cannot create the folder {}: {}", path.string(), error.message());
}

void check_readable(const std::filesystem::path& file) { const OpenFile opens(file); }

void check_writable(const std::filesystem::path& folder) {
  const int refused = faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS);
  check(refused == 0, "Cannot write into the folder {}: {}", folder.string(), std::generic_category().message(errno));
}

}  // namespace hearth::io
