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

double seconds_of(const ProfilerTrack& track) { return all_seconds(track.totals()); }

// What other threads did: compute threads by how long they were busy, the others by op.
io::Json threads_json(const Profiler& profiler) {
  io::Json threads = io::Json::array();
  for (const auto& track : profiler.tracks()) {
    io::Json ops = io::Json::array();
    for (const Profiler::Total& total : track->totals())
      ops.push_back({{"op", total.name}, {"calls", total.calls}, {"seconds", total.seconds}});
    threads.push_back({{"thread", track->name()}, {"seconds", seconds_of(*track)}, {"ops", std::move(ops)}});
  }
  return threads;
}

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
  return {
      {"steps", profiler.steps()}, {"seconds", seconds}, {"ops", std::move(ops)}, {"threads", threads_json(profiler)}};
}

// A track of the trace: its name, its place from the top, and its events.
void add_track(io::Json& trace, const std::string& name, int track, const std::vector<Profiler::Event>& events) {
  const auto microseconds = [](double seconds) { return rounded(1e6 * seconds, 3); };
  const auto about = [&](const char* what, io::Json values) {
    trace.push_back({{"ph", "M"}, {"name", what}, {"pid", 1}, {"tid", track}, {"args", std::move(values)}});
  };
  about("thread_name", {{"name", name}});
  about("thread_sort_index", {{"sort_index", track}});
  for (const Profiler::Event& event : events)
    trace.push_back({{"ph", "X"},
                     {"name", event.name},
                     {"pid", 1},
                     {"tid", track},
                     {"ts", microseconds(event.begin)},
                     {"dur", microseconds(event.seconds)}});
}

io::Json trace_json(const Profiler& profiler) {
  io::Json events = io::Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "hearth"}}}});
  int track = 1;
  add_track(events, "training", track, profiler.events());
  for (const auto& other : profiler.tracks()) add_track(events, other->name(), ++track, other->events());
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

std::string totals_table(const Profiler& profiler) {
  const std::vector<Profiler::Total> totals = profiler.totals();
  const double seconds = all_seconds(totals), steps = steps_of(profiler);
  std::string table = fmt::format("{:<28} {:>14} {:>12} {:>7}\n", "op", "calls per step", "ms per step", "share");
  for (const Profiler::Total& total : totals)
    table += fmt::format("{:<28} {:>14.1f} {:>12.3f} {:>6.1f}%\n", total.name, static_cast<double>(total.calls) / steps,
                         1e3 * total.seconds / steps, 100 * total.seconds / seconds);
  if (profiler.tracks().empty()) return table;
  table += fmt::format("{:<43} {:>12} {:>7}\n", "other threads", "ms per step", "share");
  for (const auto& track : profiler.tracks())
    table += fmt::format("{:<43} {:>12.3f} {:>6.1f}%\n", track->name(), 1e3 * seconds_of(*track) / steps,
                         100 * seconds_of(*track) / seconds);
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
