#include "plugins/shared_segment.h"

#include <fcntl.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <thread>

namespace hearth::plugins {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSpin = std::chrono::microseconds(20);
constexpr long kAskNanoseconds = 20'000'000;  // between two questions whether the job gives up

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

void* map(int descriptor, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    fail(std::to_string(bytes >> 20) + " MiB of shared memory cannot be mapped, use --ddp_backend gloo");
  madvise(memory, bytes, MADV_HUGEPAGE);  // where the system grants them to shared memory
  return memory;
}

std::string why_not_opened(const SegmentAddress& address) {
  const std::string owner = "the memory of process " + std::to_string(address.process);
  constexpr const char* kWayOut = ", or use --ddp_backend gloo";
  if (errno == EACCES || errno == EPERM)
    return "this rank may not open " + owner + ", which another user runs: run all ranks as one user" + kWayOut;
  return "this rank cannot see " + owner + ": run all ranks in one container" + kWayOut;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

NewSegment::NewSegment(std::size_t bytes) {
  const int descriptor = memfd_create("hearth", MFD_CLOEXEC);
  if (descriptor < 0) fail("the system gives no shared memory, use --ddp_backend gloo");
  struct stat file {};
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 || fstat(descriptor, &file) != 0) {
    close(descriptor);
    fail("the system gives no " + std::to_string(bytes >> 20) + " MiB of shared memory, use --ddp_backend gloo");
  }
  address_ = {getpid(), descriptor, bytes, file.st_dev, file.st_ino};
  memory_ = map(descriptor, bytes);
}

NewSegment::~NewSegment() { close(static_cast<int>(address_.descriptor)); }

void* open_segment(const SegmentAddress& address) {
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat file {};
  if (descriptor < 0) throw std::runtime_error(why_not_opened(address));
  if (fstat(descriptor, &file) != 0 || file.st_dev != address.device || file.st_ino != address.file) {
    close(descriptor);
    errno = ENOENT;  // a process of another container, with the same number
    throw std::runtime_error(why_not_opened(address));
  }
  void* const memory = map(descriptor, address.bytes);
  close(descriptor);
  return memory;
}

void unmap(void* memory, std::size_t bytes) { munmap(memory, bytes); }

void Meeting::wait_for_all(const World& world) {
  const std::uint32_t before = round.load();
  if (here.fetch_add(1) + 1 == static_cast<std::uint32_t>(world.size)) {
    here.store(0);
    round.store(before + 1);
    if (asleep.load() > 0) futex(round, FUTEX_WAKE, INT_MAX, nullptr);
    return;
  }
  for (const auto begin = Clock::now(); round.load() == before && Clock::now() - begin < kSpin;) _mm_pause();
  const timespec ask{0, kAskNanoseconds};
  while (round.load() == before) {
    asleep.fetch_add(1);
    futex(round, FUTEX_WAIT, before, &ask);
    asleep.fetch_sub(1);
    if (round.load() == before && world.given_up()) throw std::runtime_error("given up while waiting for other ranks");
  }
}

}  // namespace hearth::plugins
