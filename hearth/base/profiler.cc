#include "hearth/base/profiler.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth {

Profiler::Profiler() {
  check(current_ == nullptr, "[Profiler] this thread has one already");
  current_ = this;
}

Profiler::~Profiler() { current_ = nullptr; }

std::vector<Profiler::Total> Profiler::totals() const {
  std::vector<Total> totals = totals_;
  std::ranges::sort(totals, std::ranges::greater(), &Total::seconds);
  return totals;
}

void Profiler::begin(const char* name) { open_.push_back({name, Clock::now()}); }

void Profiler::end() {
  const Open span = open_.back();
  open_.pop_back();
  const double seconds = std::chrono::duration<double>(Clock::now() - span.begin).count();
  if (!open_.empty()) open_.back().inside += seconds;
  if (steps_ < kTracedSteps)
    events_.push_back({span.name, std::chrono::duration<double>(span.begin - start_).count(), seconds});
  auto total = std::ranges::find(totals_, span.name, &Total::name);
  if (total == totals_.end()) total = totals_.insert(total, {span.name});
  ++total->calls;
  total->seconds += seconds - span.inside;
}

}  // namespace hearth
