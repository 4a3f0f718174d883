#pragma once

// Matmul C(m, n) = A(m, k) B(k, n) on a tile unit: AMX, vectors of AVX512-BF16 or, in tests, an emulation
// (simd/tiles.h).
//
// Terms:
//   tile     16 rows x 64 bytes, a register of AMX: 16 x 32 numbers of bf16, or 16 x 16 sums of f32.
//   left     the operand A, cut into panels of 32 rows.
//   right    the operand B, cut into panels of 32 columns.
//   panel    32 rows (or columns) of an operand over the whole of k. A packed panel stores its tiles one after the
//            other in the layout that AMX's instructions read (panels.h).
//   k block  32 steps along k: two left and two right tiles, which add to four tiles of sums, a 32 x 32 block of C.
//            One call of Tiles::multiply goes through many k blocks.
//   part     fp16 has no tile instruction of its own: an fp16 number is exactly the sum of two bf16 numbers, its high
//            and its low part. A k block of fp16 is packed as tiles of high and tiles of low parts, and three products
//            are added up: low times high, high times high, high times low. Low times low is at most
//            2^-16 of the term, far below the 2^-11 to which fp16 rounds, and is left out.
//
// Weight gradients, which sum over tokens, have an algorithm of their own (panel_tokens-inl.h). The one for all others:
//   1. Pack B, unless the caller passes packed weights (GemmArgs::packed_b, made once per step). Pack A where tiles
//      cannot be loaded from it directly: it is transposed, it is fp16, k is no multiple of 32, or A has fewer than 32
//      rows. A in blocks (Layout) is packed already.
//   2. Cut C into blocks (Blocking). One thread computes one block: for each stretch of k, for each right panel, for
//      each left panel, load the 32 x 32 sums, multiply along k, store the sums in f32 scratch.
//   3. finish_block adds bias, applies the activation and converts the block while it is in cache.
// Block sizes do not depend on the number of threads and each sum runs along k in order, so the bits repeat.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/panel_matmul-inl.h"
#include "hearth/kernels/gemm/panel_tokens-inl.h"
#include "hearth/kernels/gemm/panels.h"
#include "hearth/kernels/gemm/tiles.h"
#include "hearth/kernels/simd/scratch.h"
#include "hearth/kernels/simd/tiles.h"

namespace hearth::kernels::panels {

// The block of C that one thread computes. Larger blocks read less, but the speed of the threads differs, so all of
// them end together only if each has many blocks to do (docs/performance-steps.md, "The tile loop on busy cores").
struct Blocking {
  static constexpr std::int64_t kMostRows = 128;
  std::int64_t rows = kMostRows, cols = 64, k_blocks = 128;  // k_blocks: k blocks per panel pair before the next pair

  Blocking(std::int64_t m, std::int64_t n) {
    constexpr std::int64_t kManyBlocks = 96;
    while (rows > kPanel && divide_up(m, rows) * divide_up(n, cols) < kManyBlocks) rows /= 2;
  }
};
inline constexpr std::int64_t kMostRowPanels = Blocking::kMostRows / kPanel;

// Elements of all packed panels of an operand.
inline std::int64_t packed_elements(DType type, std::int64_t size, std::int64_t k) {
  return panels_of(size) * panel_elements(type, k);
}

using Pack = void (*)(const Operand&, std::int64_t, std::int64_t, std::int64_t, std::uint16_t*);

// Packs an operand on all threads: the whole of it, or what its stored rows [row_begin, row_end) contribute. Where k
// runs along memory, stored rows are rows of panels; otherwise they are steps along k.
// A task reads 32 stored rows: 64 k blocks of one panel (2,048 numbers per row), or one k block of 24 panels (768
// numbers per row). No comparison with other task sizes is on record.
inline void pack_rows(const Operand& operand, Pack pack, std::uint16_t* packed, std::int64_t row_begin = 0,
                      std::int64_t row_end = std::numeric_limits<std::int64_t>::max()) {
  const bool by_panel = operand.k_is_contiguous;
  row_end = std::min(row_end, by_panel ? operand.size : operand.k);
  const std::int64_t first_panel = by_panel ? row_begin / kPanel : 0, first_block = by_panel ? 0 : row_begin / kBlock;
  const std::int64_t panels = by_panel ? panels_of(row_end) : panels_of(operand.size);
  const std::int64_t blocks = by_panel ? blocks_of(operand.k) : blocks_of(row_end);
  const std::int64_t panel_size = panel_elements(operand.type, operand.k);
  const std::int64_t task_panels = by_panel ? 1 : 24, task_blocks = by_panel ? 64 : 1;
  const std::int64_t cuts = divide_up(blocks - first_block, task_blocks);
  cpu::parallel_for(divide_up(panels - first_panel, task_panels) * cuts, [&](std::int64_t task) {
    const std::int64_t first = first_panel + task / cuts * task_panels, begin = first_block + task % cuts * task_blocks;
    const std::int64_t end = std::min(begin + task_blocks, blocks);
    for (std::int64_t panel = first; panel < std::min(first + task_panels, panels); ++panel)
      pack(operand, panel, begin, end, packed + panel * panel_size + begin * block_elements(operand.type));
    finish_stores();
  });
}

template <TileUnit Tiles>
class Product : public TileMatmul {
 public:
  explicit Product(const GemmArgs& args)
      : args_(args),
        blocking_(args.m, args.n),
        k_blocks_(blocks_of(args.k)),
        col_blocks_(divide_up(args.n, blocking_.cols)),
        strip_rows_(strip_rows(args.type, args.k)),
        a_{args.a, args.type, false, args.lda, !args.a_transposed, args.m, args.k},
        packs_left_(args.a_transposed || args.type != DType::bf16 || args.k % kBlock != 0 ||
                    (args.a_layout == Layout::rows && args.m < kPanel)),
        packed_a_(packs_left_ ? packed_elements(args.type, args.m, args.k) : 0),
        packed_b_(args.packed_b == nullptr ? packed_elements(args.type, args.n, args.k) : 0) {}

  void prepare() override {
    if (args_.packed_b == nullptr)
      pack_rows({args_.b, args_.type, false, args_.ldb, args_.b_transposed, args_.n, args_.k}, pack_right,
                packed_b_.data());
    if (packs_left_) pack_rows(a_, pack_left, packed_a_.data());
    right_ = args_.packed_b == nullptr ? packed_b_.data() : static_cast<const std::uint16_t*>(args_.packed_b);
  }

  std::int64_t tasks() const override { return divide_up(args_.m, blocking_.rows) * col_blocks_; }

  // Blocks are numbered column by column within strips of rows. A thread runs tasks that follow each other, so it
  // fetches a column of weights once for the whole strip, and the strip's rows stay in its L2 cache while weights
  // stream past.
  void run(std::int64_t task) override {
    const std::int64_t strip_blocks = strip_rows_ / blocking_.rows * col_blocks_;
    const std::int64_t first_row = task / strip_blocks * strip_rows_, within = task % strip_blocks;
    const std::int64_t row_blocks = divide_up(std::min(strip_rows_, args_.m - first_row), blocking_.rows);
    run_block(first_row + within % row_blocks * blocking_.rows, within / row_blocks * blocking_.cols);
  }

 private:
  // A strip has as many rows of A as leave room for the right operand in an L2 cache of 2 MB. The more rows it has, the
  // fewer threads read the same weights. A multiple of Blocking::rows, which is a power of two up to kMostRows.
  static std::int64_t strip_rows(DType type, std::int64_t k) {
    constexpr std::int64_t kMostElements = 400 << 10, kMostStripRows = 512;  // of 16 bits
    const std::int64_t row_elements = panel_elements(type, k) / kPanel;
    std::int64_t rows = Blocking::kMostRows;
    while (rows < kMostStripRows && 2 * rows * row_elements <= kMostElements) rows *= 2;
    return rows;
  }

  // A panel of the left operand and its first row in C.
  struct PanelAt {
    LeftPanel panel;
    std::int64_t row;
  };
  struct LeftPanels {
    std::array<PanelAt, kMostRowPanels> panels;
    std::int64_t count = 0;
  };

  LeftPanels left_panels(std::int64_t row, std::int64_t row_end) const {
    const bool in_blocks = args_.a_layout == Layout::blocks;  // as packing would make them
    const auto* const panels = in_blocks ? static_cast<const std::uint16_t*>(args_.a) : packed_a_.data();
    LeftPanels left;
    for (; row < row_end; row += kPanel)
      left.panels[left.count++] =
          packs_left_ || in_blocks
              ? PanelAt{packed_panel(args_.type, panels + row / kPanel * panel_elements(args_.type, args_.k)), row}
              : plain_panel(std::min(row, args_.m - kPanel));
    return left;
  }

  // Rows read in place. The last panel may begin inside the one before, so that no tile load reads past the end of A.
  PanelAt plain_panel(std::int64_t row) const {
    return {{static_cast<const std::uint16_t*>(args_.a) + row * args_.lda, args_.lda, 16 * args_.lda, kBlock}, row};
  }

  HEARTH_TILES void run_block(std::int64_t row, std::int64_t col) const {
    const std::int64_t row_end = std::min(row + blocking_.rows, args_.m);
    const std::int64_t col_end = std::min(col + blocking_.cols, args_.n);
    const LeftPanels left = left_panels(row, row_end);
    auto* sums = scratch<float, Scratch::gemm_tile>(blocking_.rows * blocking_.cols);
    [[maybe_unused]] const Tiles tiles;
    multiply(left, col / kPanel, panels_of(col_end - col), sums);
    // The last panel's sums may begin with rows of the one before.
    const std::int64_t last_row = row + (left.count - 1) * kPanel;
    const std::int64_t repeated = last_row - left.panels[left.count - 1].row;
    if (repeated == 0) return finish(row, row_end, col, col_end, sums);
    finish(row, last_row, col, col_end, sums);
    finish(last_row, row_end, col, col_end, sums + (last_row - row + repeated) * blocking_.cols);
  }

  // Rows of a block of C, whose sums begin at `sums`.
  void finish(std::int64_t row, std::int64_t row_end, std::int64_t col, std::int64_t col_end, const float* sums) const {
    const bool in_blocks = args_.c_layout == Layout::blocks;
    const std::int64_t rows = in_blocks ? kBlockSide : row_end - row, cols = in_blocks ? kBlockSide : col_end - col;
    for (std::int64_t i = row; i < row_end; i += rows)
      for (std::int64_t j = col; j < col_end; j += cols)
        finish_block(args_, i, j, std::min(rows, row_end - i), std::min(cols, col_end - j),
                     sums + (i - row) * blocking_.cols + j - col, blocking_.cols);
  }

  // sums (rows, cols) = the block's share of A B. The right panel stays in cache while all left panels use it.
  HEARTH_TILES void multiply(const LeftPanels& left, std::int64_t col_panel, std::int64_t col_panels,
                             float* sums) const {
    const std::int64_t size = panel_elements(args_.type, args_.k), block_size = block_elements(args_.type);
    for (std::int64_t k = 0; k < k_blocks_; k += blocking_.k_blocks) {
      const std::int64_t depth = std::min(blocking_.k_blocks, k_blocks_ - k);
      for (std::int64_t j = 0; j < col_panels; ++j)
        for (std::int64_t i = 0; i < left.count; ++i) {
          float* block = sums + i * kPanel * blocking_.cols + j * kPanel;
          const std::uint16_t* const right = right_ + (col_panel + j) * size + k * block_size;
          LeftPanel panel = left.panels[i].panel;
          panel.data += k * panel.next_block;
          Tiles::multiply(args_.type, panel, right, depth, block, blocking_.cols, k > 0);
        }
    }
  }

  const GemmArgs& args_;
  Blocking blocking_;
  std::int64_t k_blocks_, col_blocks_, strip_rows_;
  Operand a_;
  bool packs_left_;  // otherwise tiles are loaded from A in place
  PoolBuffer packed_a_, packed_b_;
  const std::uint16_t* right_ = nullptr;
};

// Independent matmuls, all in one parallel region once their operands are packed.
template <TileUnit Tiles>
void run_together(std::span<const GemmArgs> matmuls) {
  std::vector<std::unique_ptr<TileMatmul>> parts;
  std::vector<std::int64_t> tasks;
  for (const GemmArgs& args : matmuls) {
    if (is_weight_grad(args)) {
      parts.push_back(std::make_unique<TokenSum<Tiles>>(args));
    } else {
      sum_a(args);
      parts.push_back(std::make_unique<Product<Tiles>>(args));
    }
    parts.back()->prepare();
    tasks.push_back(parts.back()->tasks());
  }
  cpu::parallel_loops(tasks, [&](std::size_t matmul, std::int64_t task) { parts[matmul]->run(task); });
  for (const auto& part : parts) part->end();
}

}  // namespace hearth::kernels::panels
