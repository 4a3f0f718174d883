#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

using ProfilerClock = std::chrono::steady_clock;

// Totals and single spans of one thread. Names are literals.
struct ProfilerTotal {
  std::string_view name;
  std::int64_t calls = 0;
  double seconds = 0;  // without the spans inside
};
struct ProfilerEvent {
  std::string_view name;
  double begin = 0, seconds = 0;  // begin: since the profiler was made
};

// What another thread than the profiler's own does for it: a compute thread, communication, preparing batches. Any
// thread may add to it.
class ProfilerTrack {
 public:
  ProfilerTrack(std::string name, ProfilerClock::time_point start) : name_(std::move(name)), start_(start) {}

  void add(const char* name, ProfilerClock::time_point begin, ProfilerClock::time_point end);
  void keep_totals_only();  // from now on

  const std::string& name() const { return name_; }
  std::vector<ProfilerTotal> totals() const;  // the longest first
  std::vector<ProfilerEvent> events() const;  // in the order they ended

 private:
  const std::string name_;
  const ProfilerClock::time_point start_;
  mutable std::mutex mutex_;
  std::vector<ProfilerTotal> totals_;
  std::vector<ProfilerEvent> events_;
  bool keeps_events_ = true;
};

// Records where the thread that made it spends its time: named spans, which may lie inside one another. A thread
// has at most one Profiler; a Span on a thread without a Profiler costs one comparison.
class Profiler {
 public:
  using Total = ProfilerTotal;
  using Event = ProfilerEvent;
  // all: also what other threads do for this one, each on a track of its own.
  enum class Threads { own, all };

  explicit Profiler(Threads threads = Threads::own);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Single spans are kept for the first steps only, totals for all.
  static constexpr std::int64_t kTracedSteps = 20;
  static void end_step() {
    if (current_ != nullptr) current_->count_step();
  }

  // Whether spans that begin from now on are recorded. Not inside a span.
  void set_recording(bool recording) { current_ = recording ? this : nullptr; }

  std::int64_t steps() const { return steps_; }
  std::vector<Total> totals() const;                            // the longest first
  const std::vector<Event>& events() const { return events_; }  // in the order they ended

  // The profiler of the calling thread if it wants to know of other threads, otherwise null.
  static Profiler* of_all_threads() { return current_ != nullptr && current_->all_threads_ ? current_ : nullptr; }
  const char* innermost_span() const { return open_.empty() ? "outside of spans" : open_.back().name; }
  // A track lives as long as somebody holds it. The same name gives the same track.
  std::shared_ptr<ProfilerTrack> track(std::string_view name);
  // The tracks of the compute threads, the calling thread first. The pointer is valid until the next call.
  ProfilerTrack* const* compute_tracks(int threads);
  std::vector<std::shared_ptr<const ProfilerTrack>> tracks() const;  // compute threads first

 private:
  friend class Span;
  struct Open {
    const char* name;
    ProfilerClock::time_point begin;
    double inside = 0;  // seconds in spans inside
  };

  void begin(const char* name);
  void end();
  void count_step();

  static inline constinit thread_local Profiler* current_ = nullptr;
  static inline constinit thread_local Profiler* hiding_ = nullptr;  // inside of a span with Inner::hidden

  const bool all_threads_;
  const ProfilerClock::time_point start_ = ProfilerClock::now();
  std::vector<Open> open_;
  std::vector<Total> totals_;
  std::vector<Event> events_;
  std::int64_t steps_ = 0;
  std::vector<std::shared_ptr<ProfilerTrack>> compute_, others_;
  std::vector<ProfilerTrack*> compute_pointers_;
};

// The track of the calling thread's profiler, or null.
std::shared_ptr<ProfilerTrack> profiler_track(std::string_view name);

// A span of a track; null: costs a comparison.
class TrackSpan {
 public:
  TrackSpan(ProfilerTrack* track, const char* name) : track_(track), name_(name) {
    if (track_ != nullptr) begin_ = ProfilerClock::now();
  }
  ~TrackSpan() {
    if (track_ != nullptr) track_->add(name_, begin_, ProfilerClock::now());
  }
  TrackSpan(const TrackSpan&) = delete;
  TrackSpan& operator=(const TrackSpan&) = delete;

 private:
  ProfilerTrack* track_;
  const char* name_;
  ProfilerClock::time_point begin_;
};

// Measures the time from its construction to the end of the block. A Span must end before its Profiler.
class Span {
 public:
  enum class Inner { shown, hidden };  // hidden: spans inside count as this one's own time
  struct EvenIfHidden {};              // but not such a one

  // `name` is a literal.
  explicit Span(const char* name, Inner inner = Inner::shown) : profiler_(Profiler::current_) {
    if (profiler_ == nullptr) return;
    profiler_->begin(name);
    if (inner == Inner::hidden) Profiler::current_ = nullptr, Profiler::hiding_ = profiler_;
    hides_ = inner == Inner::hidden;
  }
  Span(const char* name, EvenIfHidden)
      : profiler_(Profiler::current_ != nullptr ? Profiler::current_ : Profiler::hiding_) {
    if (profiler_ != nullptr) profiler_->begin(name);
  }
  ~Span() {
    if (profiler_ == nullptr) return;
    if (hides_) Profiler::current_ = profiler_, Profiler::hiding_ = nullptr;
    profiler_->end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Profiler* profiler_;
  bool hides_ = false;
};

}  // namespace hearth
