#include "hearth/bench/allreduce_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/base/timer.h"
#include "hearth/bench/spread.h"
#include "hearth/bench/table.h"
#include "hearth/io/json.h"

namespace hearth::bench {
namespace {

struct Buffers {
  std::vector<std::byte> whole, part;
  std::size_t count = 0, part_count = 0;  // in elements; `count` is part_count times the ranks
  DType dtype = DType::f32;

  void* place_of(int rank) { return whole.data() + static_cast<std::size_t>(rank) * part_count * size_of(dtype); }
};

struct Operation {
  std::string_view name;
  double (*bus_factor)(double ranks);
  comm::WorkPtr (*start)(comm::ProcessGroup& group, Buffers& buffers);
};

constexpr Operation kOperations[] = {
    {"all_reduce", [](double ranks) { return 2 * (ranks - 1) / ranks; },
     [](comm::ProcessGroup& group, Buffers& buffers) {
       return group.all_reduce(buffers.whole.data(), buffers.count, buffers.dtype);
     }},
    {"broadcast", [](double ranks) { return ranks > 1 ? 1.0 : 0.0; },
     [](comm::ProcessGroup& group, Buffers& buffers) {
       return group.broadcast(buffers.whole.data(), buffers.count, buffers.dtype, 0);
     }},
    {"all_gather", [](double ranks) { return (ranks - 1) / ranks; },
     [](comm::ProcessGroup& group, Buffers& buffers) {
       return group.all_gather(buffers.place_of(group.rank()), buffers.whole.data(), buffers.part_count, buffers.dtype);
     }},
    {"reduce_scatter", [](double ranks) { return (ranks - 1) / ranks; },
     [](comm::ProcessGroup& group, Buffers& buffers) {
       return group.reduce_scatter(buffers.whole.data(), buffers.part.data(), buffers.part_count, buffers.dtype,
                                   comm::ReduceOp::sum);
     }},
};

// Zeros, so that sums of sums stay finite.
Buffers make_buffers(std::size_t bytes, DType dtype, int ranks) {
  Buffers buffers;
  buffers.dtype = dtype;
  buffers.part_count = std::max<std::size_t>(1, bytes / size_of(dtype) / static_cast<std::size_t>(ranks));
  buffers.count = buffers.part_count * static_cast<std::size_t>(ranks);
  buffers.whole.resize(buffers.count * size_of(dtype));
  buffers.part.resize(buffers.part_count * size_of(dtype));
  return buffers;
}

double seconds_of(const Operation& operation, comm::ProcessGroup& group, Buffers& buffers) {
  group.barrier()->wait();
  const Timer timer;
  operation.start(group, buffers)->wait();
  double seconds = timer.seconds();
  group.all_reduce(&seconds, 1, DType::f64, comm::ReduceOp::max)->wait();
  return seconds;
}

std::size_t parse_size(const std::string& text) {
  constexpr std::size_t kGiga = 1'000'000'000;
  std::size_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, size);
  const std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
  const std::size_t factor = unit.empty() ? 1 : unit == "K" ? 1'000 : unit == "M" ? 1'000'000 : unit == "G" ? kGiga : 0;
  check(failure == std::errc() && size > 0 && factor > 0 && size <= 1'000 * kGiga / factor,
        "'{}' is not a message size; give bytes up to a terabyte, such as 4000, 64K, 400M or 1G", text);
  return size * factor;
}

const Operation& operation_named(const std::string& name) {
  const auto found = std::ranges::find(kOperations, name, &Operation::name);
  check(found != std::end(kOperations),
        "'{}' is not a known operation; choose all_reduce, broadcast, all_gather or reduce_scatter", name);
  return *found;
}

}  // namespace

double AllReduceBenchRow::bus_bandwidth() const {
  return bus_factor * static_cast<double>(bytes) / spread_of(seconds).mean;
}

std::vector<AllReduceBenchRow> bench_all_reduce(comm::ProcessGroup& group, const AllReduceBenchOptions& options) {
  std::vector<Operation> operations;
  for (const std::string& name : options.operations) operations.push_back(operation_named(name));
  std::vector<std::size_t> sizes;
  for (const std::string& text : options.sizes) sizes.push_back(parse_size(text));
  std::vector<AllReduceBenchRow> rows;
  for (const Operation& operation : operations)
    for (const DType dtype : options.dtypes)
      for (const std::size_t bytes : sizes) {
        Buffers buffers = make_buffers(bytes, dtype, group.size());
        AllReduceBenchRow& row = rows.emplace_back();
        row.operation = operation.name;
        row.dtype = dtype;
        row.bytes = buffers.whole.size();
        row.bus_factor = operation.bus_factor(group.size());
        for (std::int64_t round = -options.warmup; round < options.rounds; ++round) {
          const double seconds = seconds_of(operation, group, buffers);
          if (round >= 0) row.seconds.push_back(seconds);
        }
      }
  return rows;
}

std::vector<io::Json> to_json(const std::vector<AllReduceBenchRow>& rows, const Communication& by) {
  std::vector<io::Json> lines;
  for (const AllReduceBenchRow& row : rows) {
    const Spread spread = spread_of(row.seconds);
    lines.push_back({{"bench", "allreduce"},
                     {"operation", row.operation},
                     {"dtype", name_of(row.dtype)},
                     {"bytes", row.bytes},
                     {"ranks", by.ranks},
                     {"backend", by.backend},
                     {"library", by.library},
                     {"rounds", row.seconds.size()},
                     {"seconds", spread.mean},
                     {"seconds_median", spread.median},
                     {"seconds_min", spread.min},
                     {"seconds_max", spread.max},
                     {"bus_gb_per_second", row.bus_bandwidth() / 1e9}});
  }
  return lines;
}

std::string to_text(const std::vector<AllReduceBenchRow>& rows, const Communication& by) {
  Table table({"operation", "dtype", "MB", "mean ms", "median", "min", "max", "bus GB/s"});
  for (const AllReduceBenchRow& row : rows) {
    const Spread spread = spread_of(row.seconds);
    const auto milliseconds = [](double seconds) { return fmt::format("{:.3f}", seconds * 1e3); };
    table.add({row.operation, std::string(name_of(row.dtype)),
               fmt::format("{:.3f}", static_cast<double>(row.bytes) / 1e6), milliseconds(spread.mean),
               milliseconds(spread.median), milliseconds(spread.min), milliseconds(spread.max),
               by.ranks > 1 ? fmt::format("{:.3f}", row.bus_bandwidth() / 1e9) : "-"});
  }
  return fmt::format("{} ranks over {} ({})\n{}", by.ranks, by.backend, by.library, table.to_string());
}

}  // namespace hearth::bench
