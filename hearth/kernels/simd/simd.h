#pragma once

#include <string>
#include <string_view>

// The fast kernels are one source in Highway, compiled for AVX2 and for AVX-512 (Highway calls it AVX3). A source
// file includes this header before any of Highway's, then hwy/foreach_target.h, then what it needs of *-inl.h, and
// calls a function of its HWY_NAMESPACE as HEARTH_SIMD(function)(arguments...).
//
// AVX2 is the baseline of the kernels although it is not the compiler's: cpu::isa() refuses a lesser processor, so
// Highway's scalar target would only cost compile time.
#define HWY_BASELINE_TARGETS HWY_AVX2

#include <hwy/detect_targets.h>

#include "hearth/cpu/isa.h"

#if HWY_TARGETS != (HWY_AVX2 | HWY_AVX3)
#error "include hearth/kernels/simd/simd.h before Highway's headers"
#endif

// The pointer to the function of the best target that cpu::isa() allows. Highway's own dispatch would not see the cap.
#define HEARTH_SIMD(function) (hearth::kernels::simd_is_avx512() ? &N_AVX3::function : &N_AVX2::function)

namespace hearth::kernels {

inline bool simd_is_avx512() { return cpu::isa() >= cpu::Isa::avx512; }

// The target that HEARTH_SIMD calls, as reported by a function called through it: "AVX2" or "AVX3".
std::string_view simd_target_name();

std::string highway_version();

}  // namespace hearth::kernels
