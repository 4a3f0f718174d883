#include "hearth/cpu/parallel.h"

#include <omp.h>

#include "hearth/base/environment.h"
#include "hearth/base/error.h"
#include "hearth/cpu/topology.h"

namespace hearth::cpu {
namespace {

const int kOpenMpThreads = omp_get_max_threads();  // before any task lowers it
int configured = 0;
thread_local bool inside_task = false;

int default_threads() { return environment("OMP_NUM_THREADS").empty() ? topology().usable_cores : kOpenMpThreads; }

}  // namespace

void set_num_threads(int count) {
  check(count >= 0, "[set_num_threads] the number of threads must not be negative, got {}", count);
  configured = count;
}

int num_threads() {
  static const int otherwise = default_threads();
  return configured > 0 ? configured : otherwise;
}

namespace detail {

TaskScope::TaskScope() : threads_before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
  inside_task = true;
}

TaskScope::~TaskScope() {
  omp_set_num_threads(threads_before_);
  inside_task = false;
}

bool TaskScope::inside() { return inside_task; }

}  // namespace detail
}  // namespace hearth::cpu
