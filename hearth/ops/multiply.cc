#include "hearth/ops/multiply.h"

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::ops {

void multiply_into(const Operand& left, const Operand& right, const Tensor& out, bool accumulate) {
  kernels::GemmArgs matmul;
  matmul.m = left.rows();
  matmul.n = right.cols();
  matmul.k = left.cols();
  matmul.type = left.stored.type();
  matmul.a = left.stored.raw();
  matmul.lda = left.stored.shape()[1];
  matmul.a_transposed = left.transposed;
  matmul.b = right.stored.raw();
  matmul.ldb = right.stored.shape()[1];
  matmul.b_transposed = right.transposed;
  matmul.c_type = out.type();
  matmul.c = out.raw();
  matmul.ldc = matmul.n;
  matmul.accumulate = accumulate;
  kernels::gemm(matmul);
}

}  // namespace hearth::ops
