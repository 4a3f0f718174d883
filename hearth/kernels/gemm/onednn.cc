#include "hearth/kernels/gemm/onednn.h"

#include <array>
#include <cstring>
#include <dnnl.hpp>
#include <mutex>
#include <span>
#include <unordered_map>

#include "hearth/base/check.h"
#include "hearth/base/rounding.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/simd/scratch.h"

namespace hearth::kernels {
namespace {

using Dims = dnnl::memory::dims;

dnnl::cpu_isa library_isa(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::avx2:
      return dnnl::cpu_isa::avx2;
    case cpu::Isa::avx512:
      return dnnl::cpu_isa::avx512_core;
    case cpu::Isa::avx512_vnni:
      return dnnl::cpu_isa::avx512_core_vnni;
    case cpu::Isa::avx512_bf16:
      return dnnl::cpu_isa::avx512_core_bf16;
#if DNNL_VERSION_MAJOR >= 3
    case cpu::Isa::avx512_fp16:
      return dnnl::cpu_isa::avx512_core_fp16;
#else
    case cpu::Isa::avx512_fp16:
      return dnnl::cpu_isa::avx512_core_bf16;
#endif
    case cpu::Isa::amx:
      break;
  }
  return cpu::features().amx_palette_hidden ? dnnl::cpu_isa::avx512_core_bf16 : dnnl::cpu_isa::avx512_core_amx;
}

// oneDNN accepts a cap of the instruction set only before its first primitive.
void cap_library() {
  static const cpu::Isa level = cpu::isa();
  static const dnnl::status capped = dnnl::set_max_cpu_isa(library_isa(level));
  check(capped == dnnl::status::success, "[oneDNN] refused to be capped to {}: a primitive was made before the cap",
        cpu::name_of(level));
  check(cpu::isa() == level,
        "[oneDNN] has used {} since its first matmul and cannot change to {}; set the highest instruction set "
        "before anything is computed",
        cpu::name_of(level), cpu::name_of(cpu::isa()));
}

const dnnl::engine& engine() {
  static const dnnl::engine instance = (cap_library(), dnnl::engine(dnnl::engine::kind::cpu, 0));
  return instance;
}

dnnl::memory::data_type library_type(DType type) {
  return type == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

// The key of a primitive: shapes and dtypes. Pointers come with each call.
struct Plan {
  std::int64_t m, n, k, lda, ldb, ldc;
  DType type;
  bool a_transposed, b_transposed, accumulate;
  bool operator==(const Plan&) const = default;
};

struct PlanHash {
  std::size_t operator()(const Plan& plan) const {
    std::size_t hash = 0;
    for (const std::int64_t part : {plan.m, plan.n, plan.k, plan.lda, plan.ldb, plan.ldc,
                                    std::int64_t{static_cast<int>(plan.type)} * 8 + plan.a_transposed * 4 +
                                        plan.b_transposed * 2 + plan.accumulate})
      hash = (hash ^ static_cast<std::size_t>(part)) * 0x9E3779B97F4A7C15ull;
    return hash ^ (hash >> 29);
  }
};

dnnl::matmul::primitive_desc describe(const Plan& plan) {
  const auto type = library_type(plan.type);
  const dnnl::memory::desc a({plan.m, plan.k}, type, plan.a_transposed ? Dims{1, plan.lda} : Dims{plan.lda, 1});
  const dnnl::memory::desc b({plan.k, plan.n}, type, plan.b_transposed ? Dims{1, plan.ldb} : Dims{plan.ldb, 1});
  const dnnl::memory::desc c({plan.m, plan.n}, dnnl::memory::data_type::f32, Dims{plan.ldc, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // the library's own scratchpad would be shared: a race
  if (plan.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, c), attributes, engine()};
#endif
}

// A primitive with the memory objects that carry a call's pointers. Made and used by one thread.
class Product {
 public:
  explicit Product(const Plan& plan) : Product(describe(plan)) {}

  std::size_t scratch_bytes() const { return scratch_bytes_; }

  void run(const GemmTile& tile, void* scratch) {
    a_.set_data_handle(const_cast<void*>(tile.a));
    b_.set_data_handle(const_cast<void*>(tile.b));
    c_.set_data_handle(tile.c);
    scratch_.set_data_handle(scratch);
    static thread_local dnnl::stream stream(engine());
    primitive_.execute(
        stream, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}, {DNNL_ARG_SCRATCHPAD, scratch_}});
  }

 private:
  explicit Product(const dnnl::matmul::primitive_desc& desc)
      : primitive_(desc),
        a_(desc.src_desc(), engine(), nullptr),
        b_(desc.weights_desc(), engine(), nullptr),
        c_(desc.dst_desc(), engine(), nullptr),
        scratch_(desc.scratchpad_desc(), engine(), nullptr),
        scratch_bytes_(desc.scratchpad_desc().get_size()) {}

  dnnl::matmul primitive_;
  dnnl::memory a_, b_, c_, scratch_;
  std::size_t scratch_bytes_;
};

// oneDNN writes through a null pointer where the system refuses memory for the code that it generates, so a thread
// that creates a primitive asks for more than enough first. The lock keeps threads from counting on the same memory.
template <class Create>
auto with_memory_for_code(const Create& create) {
  constexpr std::size_t kMoreThanEnough = std::size_t{32} << 20;
  static std::mutex creating;
  const std::lock_guard lock(creating);
  cpu::check_memory_for("the code of a matmul", kMoreThanEnough);
  return create();
}

void run_planned(const GemmTile& t) {
  cap_library();
  static thread_local std::unordered_map<Plan, Product, PlanHash> products;
  const Plan plan{t.m, t.n, t.k, t.lda, t.ldb, t.ldc, t.type, t.a_transposed, t.b_transposed, t.accumulate};
  auto found = products.find(plan);
  if (found == products.end()) {
    try {
      found = with_memory_for_code([&] { return products.try_emplace(plan, plan).first; });
    } catch (const dnnl::error& error) {
      fail("[oneDNN] cannot create a {} matmul of ({}, {}, {}): {}", name_of(t.type), t.m, t.n, t.k, error.what());
    }
  }
  found->second.run(t, scratch<std::byte, Scratch::onednn>(static_cast<std::int64_t>(found->second.scratch_bytes())));
}

const std::byte* at(const void* base, std::int64_t elements, DType type) {
  return static_cast<const std::byte*>(base) + static_cast<std::size_t>(elements) * size_of(type);
}

std::size_t aligned(std::size_t bytes) { return round_up(bytes, cpu::kAlignment); }

// The number of tokens differs from step to step, and each new shape costs a primitive and pages for its code. To need
// few shapes, the dimension that counts tokens is cut into multiples of the first number, then of the second; the
// remainder is copied into a zero-filled block.
constexpr std::array<std::int64_t, 2> kRowMultiples{64, 16}, kSumMultiples{128, 32};
constexpr std::int64_t kLastRows = kRowMultiples.back(), kLastSum = kSumMultiples.back();

void copy_rows(const void* from, std::int64_t ld, std::int64_t rows, std::int64_t cols, DType type,
               std::int64_t rows_with_zeros, std::byte* to) {
  const std::size_t row_bytes = static_cast<std::size_t>(cols) * size_of(type);
  for (std::int64_t row = 0; row < rows; ++row)
    std::memcpy(to + static_cast<std::size_t>(row) * row_bytes, at(from, row * ld, type), row_bytes);
  std::memset(to + static_cast<std::size_t>(rows) * row_bytes, 0,
              static_cast<std::size_t>(rows_with_zeros - rows) * row_bytes);
}

void run_last_rows(const GemmTile& t) {
  const auto a_bytes = static_cast<std::size_t>(kLastRows * t.k) * size_of(t.type);
  const std::size_t c_begin = aligned(a_bytes);
  const std::size_t c_bytes = static_cast<std::size_t>(kLastRows * t.n) * sizeof(float);
  auto* a = scratch<std::byte, Scratch::onednn_rest>(static_cast<std::int64_t>(c_begin + c_bytes));
  auto* c = reinterpret_cast<float*>(a + c_begin);
  copy_rows(t.a, t.lda, t.m, t.k, t.type, kLastRows, a);
  GemmTile padded = t;
  padded.m = kLastRows;
  padded.a = a;
  padded.lda = t.k;
  padded.c = c;
  padded.ldc = t.n;
  padded.accumulate = false;
  run_planned(padded);
  for (std::int64_t row = 0; row < t.m; ++row)
    for (std::int64_t col = 0; col < t.n; ++col) {
      float& target = t.c[row * t.ldc + col];
      target = (t.accumulate ? target : 0.0f) + c[row * t.n + col];
    }
}

void run_last_sum(const GemmTile& t) {
  const auto a_bytes = static_cast<std::size_t>(kLastSum * t.m) * size_of(t.type);
  const auto b_bytes = static_cast<std::size_t>(kLastSum * t.n) * size_of(t.type);
  const std::size_t b_begin = aligned(a_bytes);
  auto* a = scratch<std::byte, Scratch::onednn_rest>(static_cast<std::int64_t>(b_begin + b_bytes));
  copy_rows(t.a, t.lda, t.k, t.m, t.type, kLastSum, a);
  copy_rows(t.b, t.ldb, t.k, t.n, t.type, kLastSum, a + b_begin);
  GemmTile padded = t;
  padded.k = kLastSum;
  padded.a = a;
  padded.lda = t.m;
  padded.b = a + b_begin;
  padded.ldb = t.n;
  run_planned(padded);
}

}  // namespace

bool onednn_accepts(DType type, cpu::Isa isa) {
  if (type == DType::f32) return true;
  // Without AMX, vdpbf16ps is worth using on AMD only; on Intel, bf16 is faster when widened to f32.
  if (type != DType::bf16) return false;
  if (isa == cpu::Isa::amx) return !cpu::features().amx_palette_hidden;
  return isa >= cpu::Isa::avx512_bf16 && cpu::features().amd;
}

void onednn_tile(const GemmTile& tile) {
  GemmTile rest = tile;
  const auto run_multiples = [&](std::span<const std::int64_t> multiples, std::int64_t GemmTile::*extent,
                                 const auto& skip) {
    for (const std::int64_t multiple : multiples) {
      GemmTile whole = rest;
      whole.*extent = rest.*extent / multiple * multiple;
      if (whole.*extent == 0) continue;
      run_planned(whole);
      rest.*extent -= whole.*extent;
      skip(whole.*extent);
    }
  };
  if (tile.a_transposed && !tile.b_transposed) {
    run_multiples(kSumMultiples, &GemmTile::k, [&](std::int64_t terms) {
      rest.a = at(rest.a, terms * tile.lda, tile.type);
      rest.b = at(rest.b, terms * tile.ldb, tile.type);
      rest.accumulate = true;
    });
    if (rest.k > 0) run_last_sum(rest);
  } else if (!tile.a_transposed) {
    run_multiples(kRowMultiples, &GemmTile::m, [&](std::int64_t rows) {
      rest.a = at(rest.a, rows * tile.lda, tile.type);
      rest.c += rows * tile.ldc;
    });
    if (rest.m > 0) run_last_rows(rest);
  } else {
    run_planned(tile);
  }
}

void onednn_gemm(std::span<const GemmArgs> matmuls) { run_tiled(matmuls, onednn_tile); }

std::string onednn_version() {
  const dnnl_version_t* version = dnnl::version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string onednn_isa() {
  cap_library();
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx512_core:
      return "avx512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_bf16";
#if DNNL_VERSION_MAJOR >= 3
    case dnnl::cpu_isa::avx512_core_fp16:
      return "avx512_fp16";
#endif
    case dnnl::cpu_isa::avx512_core_amx:
      return "amx";
    default:
      return "other";
  }
}

}  // namespace hearth::kernels
