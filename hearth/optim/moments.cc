#include "hearth/optim/moments.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "hearth/cpu/parallel.h"

namespace hearth::optim {

std::vector<Range> ranges(const ParameterStore& parameters, bool by_decay, std::span<const Interval> own) {
  std::vector<Range> alike;
  for (const auto& parameter : parameters.parameters() | std::views::reverse) {
    const bool decay = by_decay && decays(*parameter);
    const std::int64_t end = parameter->offset + parameter->shape.size();
    if (!alike.empty() && alike.back().decays == decay) {
      alike.back().end = end;
    } else {
      alike.push_back({parameter->offset, end, decay});
    }
  }
  std::vector<Range> result;
  std::int64_t moments = 0;  // of the intervals before
  for (const Interval& interval : own) {
    for (const Range& range : alike) {
      const std::int64_t begin = std::max(range.begin, interval.begin), end = std::min(range.end, interval.end);
      if (begin < end) result.push_back({begin, end, range.decays, moments + begin - interval.begin});
    }
    moments += interval.size();
  }
  return result;
}

namespace {

constexpr std::int64_t kPieceElements = 16384;

struct Piece {
  Range range;
  Parameter* parameter = nullptr;  // with replicas, and then these rows of it
  std::int64_t row_begin = 0, row_end = 0;
};

void cut(const Range& range, std::vector<Piece>& pieces) {
  for (std::int64_t begin = range.begin; begin < range.end; begin += kPieceElements) {
    const std::int64_t end = std::min(range.end, begin + kPieceElements);
    pieces.push_back({{begin, end, range.decays, range.moments + begin - range.begin}});
  }
}

void cut_rows(Parameter& parameter, const Range& range, std::vector<Piece>& pieces) {
  const std::int64_t rows = parameter.shape[0], cols = parameter.shape.size() / rows;
  const std::int64_t unit = std::ranges::max_element(parameter.replicas, {}, &Replica::row_unit)->row_unit;
  const std::int64_t piece_rows = std::max<std::int64_t>(1, kPieceElements / (unit * cols)) * unit;
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

// Whether it was up to date before this update: else nobody has read it since the one before.
bool is_in_use(const Replica& replica, const Parameter& parameter) { return replica.version + 1 == parameter.version; }

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
      if (is_in_use(replica, *piece.parameter)) replica.fill(piece.row_begin, piece.row_end);
  });
  for (const Piece& piece : pieces)
    if (piece.parameter != nullptr && piece.row_begin == 0)
      for (Replica& replica : piece.parameter->replicas)
        if (is_in_use(replica, *piece.parameter)) replica.version = piece.parameter->version;
}

Tensor zero_moments(std::span<const Interval> own) {
  std::int64_t size = 0;
  for (const Interval& interval : own) size += interval.size();
  return Tensor::zeros({size}, DType::f32);
}

Optimizer::State named_views(const ParameterStore& parameters, const Tensor& arena, std::string_view prefix) {
  check(arena.size() == parameters.size(), "[named_views] {} elements, the parameters have {}", arena.size(),
        parameters.size());
  Optimizer::State views;
  for (const auto& parameter : parameters.parameters())
    for (const Parameter::Part& part : parameter->parts) {
      const std::int64_t begin = parameter->offset + part.offset;
      views.emplace_back(fmt::format("{}.{}", prefix, part.name),
                         arena.slice(begin, begin + part.shape.size()).reshape(part.shape));
    }
  return views;
}

}  // namespace hearth::optim
