#include "hearth/io/growing_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

[[noreturn]] void fail_writing(int error) {
  throw ResourceError("Cannot write features to a temporary file: " + std::generic_category().message(error));
}

int unnamed_file(const std::filesystem::path& folder) {
  try {
    io::create_directories(folder);
  } catch (const Error&) {
    return -1;
  }
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = (folder / ".features-XXXXXX").string();  // a file system without unnamed files
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

int file_in_memory() {
  const int descriptor = ::memfd_create("hearth-features", MFD_CLOEXEC);
  if (descriptor < 0) fail_writing(errno);
  return descriptor;
}

// False where the system refuses.
bool write_all(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

GrowingFile::GrowingFile(std::filesystem::path folder) : descriptor_(unnamed_file(folder)) {
  if (descriptor_ >= 0) return;
  descriptor_ = file_in_memory();
  in_memory_ = true;
}

GrowingFile::~GrowingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), in_memory_(other.in_memory_), size_(other.size_) {}

void GrowingFile::write(std::span<const std::byte> bytes) {
  if (!write_all(descriptor_, bytes, size_)) {
    if (in_memory_) fail_writing(errno);
    move_to_memory();
    if (!write_all(descriptor_, bytes, size_)) fail_writing(errno);
  }
  size_ += bytes.size();
}

void GrowingFile::move_to_memory() {
  constexpr std::size_t kPiece = 1 << 20;
  const int memory = file_in_memory();
  std::vector<std::byte> piece(kPiece);
  for (std::uint64_t at = 0; at < size_;) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size_ - at));
    const ssize_t got = ::pread(descriptor_, piece.data(), wanted, static_cast<off_t>(at));
    const auto read = std::span(piece).first(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (read.empty() || !write_all(memory, read, at)) {
      const int error = errno;
      ::close(memory);
      fail_writing(error);
    }
    at += read.size();
  }
  ::close(std::exchange(descriptor_, memory));
  in_memory_ = true;
}

GrowingFile::Mapped GrowingFile::map() {
  if (size_ == 0) return {};
  void* const begin = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (begin == MAP_FAILED) fail_writing(errno);
  const std::shared_ptr<const void> owner(
      begin, [size = size_](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return {{static_cast<const std::byte*>(begin), static_cast<std::size_t>(size_)}, owner};
}

void release_pages(std::span<const std::byte> mapped) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(mapped.data() + mapped.size());
  if (!mapped.empty()) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace hearth::io
