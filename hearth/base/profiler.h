#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth {

// Records where the thread that made it spends its time: named spans, which may lie inside one another. A thread
// has at most one Profiler; a Span on a thread without a Profiler costs one comparison.
class Profiler {
 public:
  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  struct Total {
    std::string_view name;
    std::int64_t calls = 0;
    double seconds = 0;  // without the spans inside
  };
  struct Event {
    std::string_view name;
    double begin = 0, seconds = 0;  // begin: since the profiler was made
  };

  // Single spans are kept for the first steps only, totals for all.
  static constexpr std::int64_t kTracedSteps = 20;
  static void end_step() {
    if (current_ != nullptr) ++current_->steps_;
  }

  std::int64_t steps() const { return steps_; }
  std::vector<Total> totals() const;                            // the longest first
  const std::vector<Event>& events() const { return events_; }  // in the order they ended

 private:
  friend class Span;
  using Clock = std::chrono::steady_clock;
  struct Open {
    const char* name;
    Clock::time_point begin;
    double inside = 0;  // seconds in spans inside
  };

  void begin(const char* name);
  void end();

  static inline constinit thread_local Profiler* current_ = nullptr;

  const Clock::time_point start_ = Clock::now();
  std::vector<Open> open_;
  std::vector<Total> totals_;
  std::vector<Event> events_;
  std::int64_t steps_ = 0;
};

// Measures the time from its construction to the end of the block. A Span must end before its Profiler.
class Span {
 public:
  enum class Inner { shown, hidden };  // hidden: spans inside count as this one's own time

  // `name` is a literal.
  explicit Span(const char* name, Inner inner = Inner::shown) : profiler_(Profiler::current_) {
    if (profiler_ == nullptr) return;
    profiler_->begin(name);
    if (inner == Inner::hidden) Profiler::current_ = nullptr;
  }
  ~Span() {
    if (profiler_ == nullptr) return;
    Profiler::current_ = profiler_;
    profiler_->end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Profiler* profiler_;
};

}  // namespace hearth
