#include "hearth/cpu/parallel.h"

#include "hearth/base/error.h"

namespace hearth::cpu {
namespace {

const int kAtStart = omp_get_max_threads();  // OMP_NUM_THREADS, else the processors in this process's CPU mask
int configured = 0;

}  // namespace

void set_num_threads(int count) {
  check(count >= 0, "[set_num_threads] the number of threads must not be negative, got {}", count);
  configured = count;
}

int num_threads() { return configured > 0 ? configured : kAtStart; }

}  // namespace hearth::cpu
