#include "hearth/kernels/simd/simd.h"

#include <gtest/gtest.h>

namespace hearth::kernels {
namespace {

TEST(Simd, TheTargetIsTheOneThatTheCapAllows) {
  EXPECT_EQ(simd_target_name(), cpu::isa() == cpu::Isa::avx2 ? "AVX2" : "AVX3");
}

TEST(Simd, FollowsTheCap) {
  const cpu::Isa before = cpu::isa();
  cpu::set_max_isa("avx2");
  EXPECT_EQ(simd_target_name(), "AVX2");
  cpu::set_max_isa(cpu::name_of(before));
  EXPECT_EQ(cpu::isa(), before);
}

}  // namespace
}  // namespace hearth::kernels
