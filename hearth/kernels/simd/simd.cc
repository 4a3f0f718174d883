#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/simd/simd.cc"
#include "hearth/kernels/simd/simd.h"

#include <fmt/format.h>
// After simd.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

std::string_view simd_target_name() { return HEARTH_SIMD(target_name)(); }

std::string highway_version() { return fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH); }

}  // namespace hearth::kernels
#endif
