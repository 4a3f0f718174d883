#include "hearth/train/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hearth/base/log.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/train/results.h"

namespace hearth {
namespace {

double all_seconds(const std::vector<Profiler::Total>& totals) {
  return std::accumulate(totals.begin(), totals.end(), 0.0,
                         [](double sum, const Profiler::Total& total) { return sum + total.seconds; });
}

double steps_of(const Profiler& profiler) { return static_cast<double>(std::max<std::int64_t>(1, profiler.steps())); }

io::Json totals_json(const Profiler& profiler) {
  const std::vector<Profiler::Total> totals = profiler.totals();
  const double seconds = all_seconds(totals), steps = steps_of(profiler);
  io::Json ops = io::Json::array();
  for (const Profiler::Total& total : totals)
    ops.push_back({{"op", total.name},
                   {"calls", total.calls},
                   {"seconds", total.seconds},
                   {"seconds_per_step", total.seconds / steps},
                   {"share", total.seconds / seconds}});
  return {{"steps", profiler.steps()}, {"seconds", seconds}, {"ops", std::move(ops)}};
}

io::Json trace_json(const Profiler& profiler) {
  const auto microseconds = [](double seconds) { return rounded(1e6 * seconds, 3); };
  io::Json events = io::Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "hearth"}}}});
  for (const Profiler::Event& event : profiler.events())
    events.push_back({{"ph", "X"},
                      {"name", event.name},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", microseconds(event.begin)},
                      {"dur", microseconds(event.seconds)}});
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

std::string totals_table(const Profiler& profiler) {
  const std::vector<Profiler::Total> totals = profiler.totals();
  const double seconds = all_seconds(totals), steps = steps_of(profiler);
  std::string table = fmt::format("{:<28} {:>14} {:>12} {:>7}\n", "op", "calls per step", "ms per step", "share");
  for (const Profiler::Total& total : totals)
    table += fmt::format("{:<28} {:>14.1f} {:>12.3f} {:>6.1f}%\n", total.name, static_cast<double>(total.calls) / steps,
                         1e3 * total.seconds / steps, 100 * total.seconds / seconds);
  return table;
}

}  // namespace

void write_profile(const Profiler& profiler, const std::filesystem::path& folder) {
  io::create_directories(folder);
  io::replace_file(folder / "profile.json", io::dump_json(totals_json(profiler), 2) + "\n");
  io::replace_file(folder / "trace.json", io::dump_json(trace_json(profiler), io::kOneLine) + "\n");
  log_info("{}in {} and trace.json beside it", totals_table(profiler), (folder / "profile.json").string());
}

}  // namespace hearth
