#include "hearth/base/profiler.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth {
namespace {

void add_to(std::vector<ProfilerTotal>& totals, std::string_view name, double seconds) {
  auto total = std::ranges::find(totals, name, &ProfilerTotal::name);
  if (total == totals.end()) total = totals.insert(total, {name});
  ++total->calls;
  total->seconds += seconds;
}

std::vector<ProfilerTotal> longest_first(std::vector<ProfilerTotal> totals) {
  std::ranges::sort(totals, std::ranges::greater(), &ProfilerTotal::seconds);
  return totals;
}

double seconds_between(ProfilerClock::time_point begin, ProfilerClock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void ProfilerTrack::add(const char* name, ProfilerClock::time_point begin, ProfilerClock::time_point end) {
  const double seconds = seconds_between(begin, end);
  const std::lock_guard lock(mutex_);
  if (keeps_events_) events_.push_back({name, seconds_between(start_, begin), seconds});
  add_to(totals_, name, seconds);
}

void ProfilerTrack::keep_totals_only() {
  const std::lock_guard lock(mutex_);
  keeps_events_ = false;
}

std::vector<ProfilerTotal> ProfilerTrack::totals() const {
  const std::lock_guard lock(mutex_);
  return longest_first(totals_);
}

std::vector<ProfilerEvent> ProfilerTrack::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

Profiler::Profiler(Threads threads) : all_threads_(threads == Threads::all) {
  check(current_ == nullptr, "[Profiler] this thread has one already");
  current_ = this;
}

Profiler::~Profiler() { current_ = hiding_ = nullptr; }

std::vector<Profiler::Total> Profiler::totals() const { return longest_first(totals_); }

void Profiler::begin(const char* name) { open_.push_back({name, ProfilerClock::now()}); }

void Profiler::end() {
  const Open span = open_.back();
  open_.pop_back();
  const double seconds = seconds_between(span.begin, ProfilerClock::now());
  if (!open_.empty()) open_.back().inside += seconds;
  if (steps_ < kTracedSteps) events_.push_back({span.name, seconds_between(start_, span.begin), seconds});
  add_to(totals_, span.name, seconds - span.inside);
}

void Profiler::count_step() {
  if (++steps_ != kTracedSteps) return;
  for (const auto& track : compute_) track->keep_totals_only();
  for (const auto& track : others_) track->keep_totals_only();
}

std::shared_ptr<ProfilerTrack> Profiler::track(std::string_view name) {
  auto found = std::ranges::find(others_, name, [](const auto& track) -> std::string_view { return track->name(); });
  if (found == others_.end()) {
    found = others_.insert(found, std::make_shared<ProfilerTrack>(std::string(name), start_));
    if (steps_ >= kTracedSteps) (*found)->keep_totals_only();
  }
  return *found;
}

ProfilerTrack* const* Profiler::compute_tracks(int threads) {
  while (std::ssize(compute_) < threads) {
    const std::size_t number = compute_.size() + 1;
    compute_.push_back(std::make_shared<ProfilerTrack>(
        fmt::format("compute thread {}{}", number, number == 1 ? " (the main thread)" : ""), start_));
    if (steps_ >= kTracedSteps) compute_.back()->keep_totals_only();
    compute_pointers_.push_back(compute_.back().get());
  }
  return compute_pointers_.data();
}

std::vector<std::shared_ptr<const ProfilerTrack>> Profiler::tracks() const {
  std::vector<std::shared_ptr<const ProfilerTrack>> all(compute_.begin(), compute_.end());
  all.insert(all.end(), others_.begin(), others_.end());
  return all;
}

std::shared_ptr<ProfilerTrack> profiler_track(std::string_view name) {
  Profiler* const profiler = Profiler::of_all_threads();
  return profiler == nullptr ? nullptr : profiler->track(name);
}

}  // namespace hearth
