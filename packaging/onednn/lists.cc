// The lists of implementations that oneDNN's engine chooses from, instead of those in oneDNN's cpu_*_list.cpp: matmuls
// made of generated code for AVX2 and later, the plain one behind them, and nothing for all other primitives. oneDNN's
// own list has its older `gemm` before the AVX2 matmul.
#include "cpu/cpu_engine.hpp"
#include "cpu/matmul/ref_matmul.hpp"
#include "cpu/x64/matmul/brgemm_matmul.hpp"

namespace dnnl::impl::cpu {
namespace {

using x64::matmul::brgemm_matmul_t;

template <class Matmul>
constexpr impl_list_item_t item() {
  return impl_list_item_t(impl_list_item_t::type_deduction_helper_t<typename Matmul::pd_t>());
}

constexpr impl_list_item_t none[] = {nullptr};
constexpr impl_list_item_t matmuls[] = {item<brgemm_matmul_t<x64::avx512_core_amx>>(),
                                        item<brgemm_matmul_t<x64::avx512_core_bf16>>(),
                                        item<brgemm_matmul_t<x64::avx512_core>>(),
                                        item<brgemm_matmul_t<x64::avx2>>(),
                                        item<matmul::ref_matmul_t>(),
                                        nullptr};

}  // namespace

const impl_list_item_t* get_matmul_impl_list(const matmul_desc_t*) { return matmuls; }

#define NONE(kind) \
  const impl_list_item_t* get_##kind##_impl_list(const kind##_desc_t*) { return none; }
NONE(batch_normalization)
NONE(binary)
NONE(convolution)
NONE(deconvolution)
NONE(eltwise)
NONE(group_normalization)
NONE(inner_product)
NONE(layer_normalization)
NONE(lrn)
NONE(pooling)
NONE(prelu)
NONE(reduction)
NONE(resampling)
NONE(rnn)
NONE(shuffle)
NONE(softmax)
#undef NONE

const impl_list_item_t* cpu_engine_impl_list_t::get_concat_implementation_list() { return none; }
const impl_list_item_t* cpu_engine_impl_list_t::get_sum_implementation_list() { return none; }
const impl_list_item_t* cpu_engine_impl_list_t::get_reorder_implementation_list(const memory_desc_t*,
                                                                                const memory_desc_t*) {
  return none;
}

}  // namespace dnnl::impl::cpu
