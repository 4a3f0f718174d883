#pragma once

#include <cstdint>
#include <string>

#include "hearth/base/api.h"

namespace hearth {

// Settings of the process, for programs: set them before the first parallel work.
struct Runtime {
  int num_threads = 0;  // 0: OMP_NUM_THREADS or, if that is unset, one per core that this process may use
  std::string max_isa =
      {};  // avx2, avx512, avx512_vnni, avx512_bf16, avx512_fp16 or amx; empty: all that the processor has
};
HEARTH_API void configure(const Runtime& runtime);

HEARTH_API int num_threads();
HEARTH_API std::string instruction_set();  // in use, such as "amx"

}  // namespace hearth
