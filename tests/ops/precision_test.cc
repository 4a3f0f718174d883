#include "hearth/ops/precision.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "hearth/kernels/gemm/gemm.h"
#include "tests/paths.h"

namespace hearth::ops {
namespace {

TEST(Precision, TheTableIsInTheOrderOfItsValues) {
  for (std::size_t i = 0; i < kPrecision.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(kPrecision[i].value), i);
}

TEST(Precision, ActivationsAreNarrowAndWhatAddsUpIsNot) {
  EXPECT_EQ(value_dtype(Value::activation, DType::bf16), DType::bf16);
  EXPECT_EQ(value_dtype(Value::matmul_operand, DType::f16), DType::f16);
  for (const Value value : {Value::matmul_sum, Value::statistic, Value::logit, Value::loss, Value::weight,
                            Value::weight_gradient, Value::moment})
    EXPECT_EQ(value_dtype(value, DType::bf16), DType::f32);
}

TEST(Precision, TheDocumentShowsTheTable) {
  const auto path = std::filesystem::path(kFixturesFolder) / ".." / ".." / "docs" / "precision.md";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  for (const PrecisionRow& row : kPrecision) {
    std::string line = fmt::format("| {} |", row.name);
    for (const DType compute : {DType::f32, DType::bf16, DType::f16})
      line += fmt::format(" {} |", name_of(value_dtype(row.value, compute)));
    EXPECT_NE(text.str().find(line + "\n"), std::string::npos) << line;
  }
}

TEST(Precision, SaysWhereAFormatIsEmulated) {
  EXPECT_FALSE(emulation_warning(DType::f32));
  for (const DType type : {DType::bf16, DType::f16}) {
    const auto warning = emulation_warning(type);
    EXPECT_EQ(warning.has_value(), kernels::choose_gemm(type, cpu::isa()).name == "widen");
    if (warning) {
      EXPECT_NE(warning->find(name_of(type)), std::string::npos) << *warning;
      EXPECT_NE(warning->find(cpu::name_of(cpu::isa())), std::string::npos) << *warning;
    }
  }
}

}  // namespace
}  // namespace hearth::ops
