// One pass over the weights does two things: the optimizer's update, and the refresh of the 16-bit copies that the next
// step's matmuls read.
//
// Terms:
//   range    elements of the arenas that get the same update (with or without weight decay) and that this rank owns.
//   piece    what one thread updates at a time: about kFlatChunk elements, so that they are still in cache when the
//            copies are made from them.
//   copy     a copy of a weight in 16 bits, plain or packed (autograd/weight_copies.h). `was_read` says that a matmul
//            of this step used it; a copy that nothing reads any more was dropped before the update.
//   table    an embedding whose unused rows are left out.
//   row unit packed copies consist of panels of 32 rows, so pieces of such a weight are whole multiples of 32 rows.
//
// The algorithm:
//   1. cut() splits each range into pieces, in arena order. A parameter with copies that lies entirely inside the
//      range is cut into whole rows (cut_rows), and so is what the range has of a table (cut_table); everything between
//      such parameters is cut into flat pieces.
//   2. All threads take pieces: update(piece), then rebuild() of each copy that was read, for the piece's rows. A table
//      has no copies; of its pieces only the used rows are updated.
//   3. The rebuilt copies get the version of their parameter, so the next forward pass does not rebuild them.
// A parameter that reaches beyond the range, such as one whose rest belongs to another rank, is updated as flat pieces;
// its copies keep their old version and are rebuilt at their next use (acquire).

#include "hearth/optim/update_pieces.h"

#include <algorithm>
#include <iterator>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"

namespace hearth::optim {
namespace {

struct Piece {
  Range range;
  Parameter* parameter = nullptr;  // set if the parameter has copies, or is an embedding with unused rows
  // If `parameter` is set, the rows that the piece lies in. A piece of an embedding may begin or end inside a row.
  std::int64_t row_begin = 0, row_end = 0;
  const std::uint8_t* used = nullptr;  // of an embedding with unused rows: one flag per row
};

Range cut_out(const Range& range, std::int64_t begin, std::int64_t end) {
  Range part = range;
  part.begin = std::max(range.begin, begin);
  part.end = std::min(range.end, end);
  part.moments += part.begin - range.begin;
  return part;
}

// Flat pieces, without copies.
void cut(const Range& range, std::vector<Piece>& pieces) {
  for (std::int64_t begin = range.begin; begin < range.end; begin += kernels::kFlatChunk) {
    const std::int64_t end = std::min(range.end, begin + kernels::kFlatChunk);
    pieces.push_back({{begin, end, range.decays, range.moments + begin - range.begin}});
  }
}

// Pieces of whole rows. `range` begins with the parameter. Multiples of the largest row unit suit all copies, because
// units are powers of two.
void cut_rows(Parameter& parameter, const Range& range, std::vector<Piece>& pieces) {
  const std::int64_t rows = parameter.shape[0], cols = parameter.shape.size() / rows;
  const std::int64_t unit = std::ranges::max_element(parameter.copies, {}, &WeightCopy::row_unit)->row_unit();
  const std::int64_t piece_rows = std::max<std::int64_t>(1, kernels::kFlatChunk / (unit * cols)) * unit;
  for (std::int64_t row = 0; row < rows; row += piece_rows) {
    const std::int64_t row_end = std::min(rows, row + piece_rows), begin = parameter.offset + row * cols;
    const Range part{begin, parameter.offset + row_end * cols, range.decays, range.moments + begin - range.begin};
    pieces.push_back({part, &parameter, row, row_end});
  }
}

// Rows that the range has of a table, whole or in part.
void cut_table(Parameter& table, const Range& range, const std::uint8_t* used, std::vector<Piece>& pieces) {
  const std::int64_t row_size = table.shape[1], rows = std::max<std::int64_t>(1, kernels::kFlatChunk / row_size);
  for (std::int64_t row = 0; row < table.shape[0]; row += rows) {
    const std::int64_t row_end = std::min(table.shape[0], row + rows);
    const Range part = cut_out(range, table.offset + row * row_size, table.offset + row_end * row_size);
    if (part.begin < part.end) pieces.push_back({part, &table, row, row_end, used});
  }
}

void cut(ParameterStore& parameters, const Range& range, const UsedRows* used_rows, std::vector<Piece>& pieces) {
  Range rest = range;  // what is not cut yet
  for (Parameter* parameter : parameters.in_arena_order()) {
    const Range own = cut_out(rest, parameter->offset, parameter->offset + parameter->shape.size());
    if (own.begin >= own.end) continue;
    const bool is_whole = own.end - own.begin == parameter->shape.size();
    const std::uint8_t* const used =
        used_rows == nullptr || !parameter->copies.empty() ? nullptr : used_rows->flags_of(*parameter);
    if (used == nullptr && (parameter->copies.empty() || !is_whole)) continue;
    cut(cut_out(rest, rest.begin, own.begin), pieces);
    if (used != nullptr)
      cut_table(*parameter, own, used, pieces);
    else
      cut_rows(*parameter, own, pieces);
    rest = cut_out(rest, own.end, rest.end);
  }
  cut(rest, pieces);
}

// Rows that follow each other are one range.
void update_used_rows(const Piece& piece, const std::function<void(const Range&)>& update) {
  const std::int64_t first = piece.parameter->offset, row_size = piece.parameter->shape[1];
  for (std::int64_t row = piece.row_begin; row < piece.row_end; ++row) {
    if (piece.used[row] == 0) continue;
    const std::int64_t begin = row;
    while (row + 1 < piece.row_end && piece.used[row + 1] != 0) ++row;
    const Range rows = cut_out(piece.range, first + begin * row_size, first + (row + 1) * row_size);
    if (rows.begin < rows.end) update(rows);
  }
}

}  // namespace

void update_pieces(ParameterStore& parameters, std::span<const Range> ranges, const UsedRows* used_rows,
                   const std::function<void(const Range&)>& update) {
  std::vector<Piece> pieces;
  for (const Range& range : ranges) cut(parameters, range, used_rows, pieces);
  cpu::parallel_for(std::ssize(pieces), [&](std::int64_t i) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    if (piece.used != nullptr) return update_used_rows(piece, update);
    update(piece.range);
    if (piece.parameter == nullptr) return;
    for (const WeightCopy& copy : piece.parameter->copies)
      if (copy.was_read) rebuild(*piece.parameter, copy, piece.row_begin, piece.row_end, false);
  });
  for (const Piece& piece : pieces) {
    if (piece.parameter == nullptr || piece.row_begin > 0) continue;  // once per parameter
    for (WeightCopy& copy : piece.parameter->copies)
      if (copy.was_read) copy.version = piece.parameter->version;
  }
}

}  // namespace hearth::optim
