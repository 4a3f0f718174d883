#include <gtest/gtest.h>

#include "hearth/base/error.h"
#include "hearth/kernels/gemm/onednn.h"

namespace hearth::kernels {
namespace {

TEST(OneDnn, RefusesAnInstructionSetThatChangesAfterItsFirstProduct) {
  const cpu::Isa before = cpu::isa();
  if (before == cpu::Isa::avx2) GTEST_SKIP() << "the level is the lowest already";
  std::string first = onednn_isa(), message;
  cpu::set_max_isa("avx2");
  try {
    onednn_isa();
  } catch (const Error& error) {
    message = error.what();
  }
  cpu::set_max_isa(cpu::name_of(before));
  EXPECT_NE(message.find("cannot change to avx2"), std::string::npos) << message;
  EXPECT_EQ(onednn_isa(), first);
}

}  // namespace
}  // namespace hearth::kernels
