#include "hearth/kernels/gemm_amx.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "hearth/cpu/memory.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/gemm_amx_pack.h"
#include "hearth/kernels/gemm_tiles.h"
#include "hearth/kernels/scratch.h"

namespace hearth::kernels {
namespace {

using amx::kPanel;
using amx::kTileElements;

// Blocks of the result that one thread computes, whatever the number of threads. Summing over features, a task packs
// its rows itself and has many columns to use them on; summing over tokens, outputs are small and sums long.
struct Blocking {
  std::int64_t rows, cols, k_blocks;  // k_blocks: how much of k is multiplied before the next panel's turn
};
constexpr Blocking kOverFeatures{64, 768, 128}, kOverTokens{96, 96, 32};
constexpr std::int64_t kFinishCols =
    128;  // columns whose sums gather in the first-level cache before they are finished

// A pair of panels to be multiplied and added to one 32 x 32 block.
struct PanelPair {
  const std::uint16_t *a, *b;
};

// Palette 1, whose shape the architecture fixes: eight tiles of 16 rows x 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_a_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constinit const TileConfig kTileConfig;

struct AmxTiles {
  [[gnu::target("amx-tile")]] AmxTiles() { _tile_loadconfig(&kTileConfig); }
  [[gnu::target("amx-tile")]] ~AmxTiles() { _tile_release(); }

  // c (32, 32) = [c +] the products of all pairs of panels, k_blocks tiles deep.
  [[gnu::target("amx-tile,amx-bf16")]] static void multiply(std::span<const PanelPair> pairs, std::int64_t k_blocks,
                                                            float* c, std::int64_t ldc, bool accumulate) {
    const std::int64_t c_stride = ldc * 4;
    asm volatile("" ::: "memory");
    if (accumulate) {
      _tile_loadd(0, c, c_stride);
      _tile_loadd(1, c + 16, c_stride);
      _tile_loadd(2, c + 16 * ldc, c_stride);
      _tile_loadd(3, c + 16 * ldc + 16, c_stride);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    for (const PanelPair& pair : pairs) {
      const std::uint16_t *a = pair.a, *b = pair.b;
      for (std::int64_t block = 0; block < k_blocks; ++block, a += 2 * kTileElements, b += 2 * kTileElements) {
        _tile_loadd(6, b, 64);
        _tile_loadd(4, a, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + kTileElements, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + kTileElements, 64);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
    _tile_stored(0, c, c_stride);
    _tile_stored(1, c + 16, c_stride);
    _tile_stored(2, c + 16 * ldc, c_stride);
    _tile_stored(3, c + 16 * ldc + 16, c_stride);
    asm volatile("" ::: "memory");
  }
};

struct EmulatedTiles {
  static void multiply(std::span<const PanelPair> pairs, std::int64_t k_blocks, float* c, std::int64_t ldc,
                       bool accumulate) {
    const auto value = [](std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); };
    for (std::int64_t i = 0; i < kPanel; ++i)
      for (std::int64_t j = 0; j < kPanel; ++j) {
        float sum = accumulate ? c[i * ldc + j] : 0;
        for (const PanelPair& pair : pairs)
          for (std::int64_t k = 0; k < 32 * k_blocks; ++k) {
            const std::int64_t block = k / 32 * 2 * kTileElements;
            const std::uint16_t a = pair.a[block + i / 16 * kTileElements + i % 16 * 32 + k % 32];
            const std::uint16_t b = pair.b[block + j / 16 * kTileElements + k % 32 / 2 * 32 + j % 16 * 2 + k % 2];
            sum += value(a) * value(b);
          }
        c[i * ldc + j] = sum;
      }
  }
};

// Memory for the length of one product.
class Buffer {
 public:
  explicit Buffer(std::int64_t elements)
      : data_(static_cast<std::uint16_t*>(cpu::pool_allocate(static_cast<std::size_t>(elements) * 2))) {}
  ~Buffer() { cpu::pool_free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint16_t* data() const { return data_; }

 private:
  std::uint16_t* data_;
};

std::span<const amx::Part> parts_of(DType type) {
  static constexpr amx::Part whole[] = {amx::Part::whole};
  static constexpr amx::Part split[] = {amx::Part::high, amx::Part::low};
  if (type == DType::bf16) return whole;
  return split;
}

template <class Tiles>
class AmxProduct {
 public:
  explicit AmxProduct(const GemmArgs& args)
      : args_(args),
        parts_(parts_of(args.type)),
        blocking_(args.a_transposed ? kOverTokens : kOverFeatures),
        k_blocks_(amx::blocks_of(args.k)),
        panel_(amx::panel_elements(args.k)),
        a_{static_cast<const std::uint16_t*>(args.a), args.lda, !args.a_transposed, args.m, args.k},
        b_{static_cast<const std::uint16_t*>(args.b), args.ldb, args.b_transposed, args.n, args.k},
        packed_b_(amx::panels_of(args.n) * panel_ * std::ssize(parts_)),
        packed_a_(args.a_transposed ? amx::panels_of(args.m) * panel_ * std::ssize(parts_) : 0) {}

  void run() {
    pack_whole(b_, packed_b_.data(), amx::pack_right);
    if (args_.a_transposed) pack_whole(a_, packed_a_.data(), amx::pack_left);
    const std::int64_t row_blocks = (args_.m + blocking_.rows - 1) / blocking_.rows;
    const std::int64_t col_blocks = (args_.n + blocking_.cols - 1) / blocking_.cols;
    cpu::parallel_for(row_blocks * col_blocks, [&](std::int64_t task) {
      run_block(task / col_blocks * blocking_.rows, task % col_blocks * blocking_.cols);
    });
  }

 private:
  using Pack = void (*)(const amx::Operand&, amx::Part, std::int64_t, std::int64_t, std::int64_t, std::uint16_t*);

  // A panel of every part lies behind that of the part before.
  void pack_whole(const amx::Operand& operand, std::uint16_t* packed, Pack pack) const {
    constexpr std::int64_t kBlocksPerTask = 64;
    const std::int64_t cuts = (k_blocks_ + kBlocksPerTask - 1) / kBlocksPerTask;
    cpu::parallel_for(amx::panels_of(operand.size) * cuts, [&](std::int64_t task) {
      const std::int64_t panel = task / cuts, begin = task % cuts * kBlocksPerTask;
      const std::int64_t end = std::min(begin + kBlocksPerTask, k_blocks_);
      for (std::size_t part = 0; part < parts_.size(); ++part)
        pack(operand, parts_[part], panel, begin, end,
             packed + (panel * std::ssize(parts_) + static_cast<std::int64_t>(part)) * panel_ +
                 begin * 2 * kTileElements);
    });
  }

  // The packed rows of a task: its own scratch, or where the whole operand was packed.
  const std::uint16_t* left_panels(std::int64_t row, std::int64_t count) const {
    const std::int64_t size = panel_ * std::ssize(parts_);
    if (args_.a_transposed) return packed_a_.data() + row / kPanel * size;
    auto* packed = scratch<std::uint16_t, Scratch::gemm_amx_rows>(count * size);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::size_t part = 0; part < parts_.size(); ++part)
        amx::pack_left(a_, parts_[part], row / kPanel + i, 0, k_blocks_,
                       packed + i * size + static_cast<std::int64_t>(part) * panel_);
    return packed;
  }

  void run_block(std::int64_t row, std::int64_t col) const {
    const std::int64_t row_end = std::min(row + blocking_.rows, args_.m);
    const std::int64_t col_end = std::min(col + blocking_.cols, args_.n);
    const std::int64_t row_panels = amx::panels_of(row_end - row);
    const std::uint16_t* left = left_panels(row, row_panels);
    auto* sums = scratch<float, Scratch::gemm_tile>(blocking_.rows * kFinishCols);
    [[maybe_unused]] const Tiles tiles;
    for (std::int64_t at = col; at < col_end; at += kFinishCols) {
      const std::int64_t cols = std::min(kFinishCols, col_end - at);
      multiply(left, row_panels, at / kPanel, amx::panels_of(cols), sums);
      finish_block(args_, row, at, row_end - row, cols, sums, kFinishCols);
    }
  }

  void multiply(const std::uint16_t* left, std::int64_t row_panels, std::int64_t col_panel, std::int64_t col_panels,
                float* sums) const {
    const std::int64_t size = panel_ * std::ssize(parts_);
    for (std::int64_t k = 0; k < k_blocks_; k += blocking_.k_blocks) {
      const std::int64_t depth = std::min(blocking_.k_blocks, k_blocks_ - k);
      for (std::int64_t j = 0; j < col_panels; ++j)
        for (std::int64_t i = 0; i < row_panels; ++i) {
          std::array<PanelPair, 4> pairs;
          std::size_t count = 0;
          for (std::int64_t p = 0; p < std::ssize(parts_); ++p)
            for (std::int64_t q = 0; q < std::ssize(parts_); ++q)
              pairs[count++] = {left + i * size + p * panel_ + k * 2 * kTileElements,
                                packed_b_.data() + (col_panel + j) * size + q * panel_ + k * 2 * kTileElements};
          Tiles::multiply(std::span(pairs).first(count), depth, sums + i * kPanel * kFinishCols + j * kPanel,
                          kFinishCols, k > 0);
        }
    }
  }

  const GemmArgs& args_;
  std::span<const amx::Part> parts_;
  Blocking blocking_;
  std::int64_t k_blocks_, panel_;
  amx::Operand a_, b_;
  Buffer packed_b_, packed_a_;
};

}  // namespace

bool amx_accepts(DType type, cpu::Isa isa) {
  return isa == cpu::Isa::amx && (type == DType::bf16 || type == DType::f16);
}

void amx_gemm(const GemmArgs& args) { AmxProduct<AmxTiles>(args).run(); }

void amx_gemm_emulated(const GemmArgs& args) { AmxProduct<EmulatedTiles>(args).run(); }

}  // namespace hearth::kernels
