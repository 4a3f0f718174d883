#include "hearth/optim/update_pieces.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/chunks.h"

namespace hearth::optim {
namespace {

struct Piece {
  Range range;
  Parameter* parameter = nullptr;  // with replicas, and then these rows of it
  std::int64_t row_begin = 0, row_end = 0;
};

void cut(const Range& range, std::vector<Piece>& pieces) {
  for (std::int64_t begin = range.begin; begin < range.end; begin += kernels::kFlatChunk) {
    const std::int64_t end = std::min(range.end, begin + kernels::kFlatChunk);
    pieces.push_back({{begin, end, range.decays, range.moments + begin - range.begin}});
  }
}

void cut_rows(Parameter& parameter, const Range& range, std::vector<Piece>& pieces) {
  const std::int64_t rows = parameter.shape[0], cols = parameter.shape.size() / rows;
  const std::int64_t unit = std::ranges::max_element(parameter.replicas, {}, &Replica::row_unit)->row_unit;
  const std::int64_t piece_rows = std::max<std::int64_t>(1, kernels::kFlatChunk / (unit * cols)) * unit;
  for (std::int64_t row = 0; row < rows; row += piece_rows) {
    const std::int64_t row_end = std::min(rows, row + piece_rows), begin = parameter.offset + row * cols;
    const Range part{begin, parameter.offset + row_end * cols, range.decays, range.moments + begin - range.begin};
    pieces.push_back({part, &parameter, row, row_end});
  }
}

void cut(ParameterStore& parameters, const Range& range, std::vector<Piece>& pieces) {
  Range rest = range;
  for (const auto& parameter : parameters.parameters() | std::views::reverse) {
    const std::int64_t begin = parameter->offset, end = begin + parameter->shape.size();
    if (parameter->replicas.empty() || begin < rest.begin || end > rest.end) continue;
    cut({rest.begin, begin, rest.decays, rest.moments}, pieces);
    rest.moments += begin - rest.begin;
    rest.begin = begin;
    cut_rows(*parameter, rest, pieces);
    rest.moments += end - begin;
    rest.begin = end;
  }
  cut(rest, pieces);
}

}  // namespace

void update_pieces(ParameterStore& parameters, std::span<const Range> ranges,
                   const std::function<void(const Range&)>& update) {
  std::vector<Piece> pieces;
  for (const Range& range : ranges) cut(parameters, range, pieces);
  cpu::parallel_for(std::ssize(pieces), [&](std::int64_t i) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    update(piece.range);
    if (piece.parameter == nullptr) return;
    for (const Replica& replica : piece.parameter->replicas)
      if (replica.was_read) replica.fill(piece.row_begin, piece.row_end, false);
  });
  for (const Piece& piece : pieces) {
    if (piece.parameter == nullptr || piece.row_begin > 0) continue;
    for (Replica& replica : piece.parameter->replicas)
      if (std::exchange(replica.was_read, false)) replica.version = piece.parameter->version;
  }
}

}  // namespace hearth::optim
