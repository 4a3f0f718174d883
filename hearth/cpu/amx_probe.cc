#include "hearth/cpu/amx_probe.h"

#include <immintrin.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <new>

#include "hearth/base/dtype.h"

namespace hearth::cpu {
namespace {

constexpr int kRows = 16, kColumns = 16, kDepth = 32;
constexpr unsigned kSecondsAllowed = 10;

// Palette 1 has eight tiles of 16 rows x 64 bytes, fixed by the architecture; the probe uses three of them.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

struct Product {
  BFloat16 a[kRows][kDepth];
  BFloat16 b[kDepth / 2][kColumns][2];  // neighbouring pairs along the depth, the layout of a tile
  float c[kRows][kColumns] = {};
};

// Small integers, so that every order of summation gives the same result.
int a_value(int row, int k) { return (3 * row + 5 * k) % 17 - 8; }
int b_value(int k, int column) { return (7 * k + 2 * column) % 13 - 6; }

void fill(Product& product) {
  for (int row = 0; row < kRows; ++row)
    for (int k = 0; k < kDepth; ++k) product.a[row][k] = BFloat16(static_cast<float>(a_value(row, k)));
  for (int k = 0; k < kDepth; ++k)
    for (int column = 0; column < kColumns; ++column)
      product.b[k / 2][column][k % 2] = BFloat16(static_cast<float>(b_value(k, column)));
}

bool is_right(const Product& product) {
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      int sum = 0;
      for (int k = 0; k < kDepth; ++k) sum += a_value(row, k) * b_value(k, column);
      if (product.c[row][column] != static_cast<float>(sum)) return false;
    }
  return true;
}

__attribute__((target("amx-tile,amx-bf16"))) void multiply(Product& product) {
  // static: GCC's intrinsic declares that it reads only the first bytes, so the optimizer would drop the stores to the
  // rest of a local variable.
  static const TileConfig config;
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_loadd(1, product.a, sizeof product.a[0]);
  _tile_loadd(2, product.b, sizeof product.b[0]);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, product.c, sizeof product.c[0]);
  _tile_release();
}

// The child. It makes only calls that are safe after fork() in a process with threads, and ends quietly on any failure.
[[noreturn]] void run_child(Product& product) {
  const rlimit no_core_file{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_file);
  for (const int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGALRM}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(kSecondsAllowed);
  multiply(product);
  _exit(0);
}

}  // namespace

bool kernel_grants_tiles() {
  constexpr int request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

bool tile_product_works() {
  // The result is in shared memory, not in the exit status, which SIGCHLD handling of a host program may swallow.
  void* const shared = mmap(nullptr, sizeof(Product), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  Product& product = *new (shared) Product;
  fill(product);
  const pid_t child = fork();
  if (child == 0) run_child(product);
  if (child > 0)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  const bool works = is_right(product);
  munmap(shared, sizeof(Product));
  return works;
}

}  // namespace hearth::cpu
