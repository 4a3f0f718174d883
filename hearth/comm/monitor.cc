// How a job finds out which rank has failed.
//
// Terms:
//   store         the key-value store of the job, held by rank 0 (tcp_store.h).
//   operation     a call of the process group under way on this rank: its name, and how many collectives this rank has
//                 begun (`number_`).
//   sign of life  `progress/RANK` = "beat number name", written by each rank. The beat counts up, so a rank whose beat
//                 stands still is stopped or cut off, while one that merely waits in an operation goes on counting.
//   gone          `gone/RANK` = "died" (set by the store when the rank's connection breaks), "failed", "failed: REASON"
//                 (the rank where the failure began says why), or "left NUMBER" (it ended in order after that many
//                 collectives).
//   missed        a gone rank without which the operation under way cannot end.
//   verdict       the sentence that names the ranks at fault. A rank that reaches one publishes it, and other ranks
//                 without one repeat it. "Rank 0 cannot be reached" is a verdict that cannot be published.
//
// Each rank has a thread of its own for this (run). Every `beat` it exchanges signs with the store; in between it only
// publishes a new operation. The waiting plug-in asks give_up(), which is true once a rank is missed, the time is out,
// or the group is abandoned. The plug-in then returns an error, and explain() makes the message. suspects() takes, in
// this order:
//   1. a verdict that another rank has published;
//   2. rank 0, if the store cannot be reached or does not answer;
//   3. ranks that are gone;
//   4. after some more beats, ranks whose beat stands still;
//   5. ranks that have not reached this operation.
// If a rank that is gone gave a reason, the message is nothing but that.
// A plug-in that does not return is noticed by stuck(), which the waiting threads ask (operation_queue.cc).
//
// Long before the time is out, a rank that is silent is worth a warning. Rank 0, which holds the store, watches the
// others; rank 1 watches whether the store answers. All times but the beat's are those of an AwakeClock, so a job that
// was suspended as a whole goes on when it is woken.

#include "hearth/comm/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/comm/failure_sentence.h"

namespace hearth::comm {
namespace {

constexpr int kPatience = 4;                      // beats without a sign of life before a rank counts as silent
constexpr std::chrono::milliseconds kFresh{100};  // interval at which a rank publishes a new operation
constexpr int kManyRanks = 16;                    // in larger jobs that interval is multiplied by size / 16
constexpr std::chrono::seconds kFarewell{2};      // for the last writes to reach the store
constexpr std::string_view kSilent = "gives no sign of life";
constexpr std::string_view kFailed = "failed", kReason = "failed: ";  // values of gone/RANK
constexpr std::size_t kLongestReason = 4000;

// A value of progress/RANK.
struct Progress {
  std::uint64_t beat = 0, number = 0;
  std::string name;
};

Progress parse(const std::string& text) {
  Progress result;
  std::istringstream(text) >> result.beat >> result.number >> result.name;
  return result;
}

std::string where(const Progress& progress) {
  return fmt::format("last seen in {}, operation {}", progress.name, progress.number);
}

std::string key(std::string_view table, int rank) { return fmt::format("{}/{}", table, rank); }

void append(std::string& list, const std::string& sentence) { list += (list.empty() ? "" : "; ") + sentence; }

}  // namespace

Monitor::Monitor(std::shared_ptr<Store> store, Settings settings)
    : store_(std::move(store)), settings_(std::move(settings)), signs_(static_cast<std::size_t>(settings_.size)) {
  if (!store_) return;
  clock_ = std::make_unique<AwakeClock>([this] { warn_of_silent_store(); });
  thread_ = std::thread([this] { run(); });
}

// A group that ends in order has called stop(false) before; otherwise this rank has failed.
Monitor::~Monitor() { stop(true); }

void Monitor::enter(const char* name, bool of_all_ranks) {
  const std::lock_guard lock(mutex_);
  if (of_all_ranks) ++number_;
  name_ = name;
  running_ = true;
  deadline_ = now() + settings_.timeout;
  missed_ = false;
  set_missed();
}

void Monitor::exit() {
  const std::lock_guard lock(mutex_);
  running_ = false;
}

Monitor::Duration Monitor::now() const { return clock_ ? clock_->now() : Clock::now().time_since_epoch(); }

bool Monitor::out_of_time() const { return now() >= deadline_.load(); }

bool Monitor::give_up() const { return abandoned_ || missed_ || out_of_time(); }

std::string Monitor::operation() const { return fmt::format("{} (operation {})", name_, number_); }

std::string Monitor::own_sign() const { return fmt::format("{} {} {}", beats_, number_, name_); }

void Monitor::run() {
  const auto fresh = kFresh * std::max(1, settings_.size / kManyRanks);
  std::unique_lock lock(mutex_);
  for (auto next_beat = Clock::now(); ending_ == Ending::none;) {
    const bool beat = Clock::now() >= next_beat;
    lock.unlock();
    try {
      asking_since_ = now();
      beat ? exchange_signs() : tell_operation();
    } catch (const std::exception& error) {
      lock.lock();
      store_failure_ = error.what();
      set_missed();
      changed_.notify_all();
      lock.unlock();
    }
    asking_since_ = kNotAsking;
    lock.lock();
    if (beat) next_beat = Clock::now() + settings_.beat;
    const auto pause = std::min<Clock::duration>(fresh, next_beat - Clock::now());
    changed_.wait_for(lock, pause, [&] { return ending_ != Ending::none; });
  }
  const std::string sign = own_sign();
  const std::string failed(reason_.empty() ? std::string(kFailed) : std::string(kReason) + reason_);
  const std::string ending = ending_ == Ending::failed ? failed : fmt::format("left {}", number_);
  const std::string verdict = std::exchange(verdict_to_tell_, "");
  const bool lost = !store_failure_.empty();
  lock.unlock();
  if (!lost) try {
      if (!verdict.empty()) store_->set("verdict", verdict);
      store_->set(key("progress", settings_.rank), sign);
      store_->set(key("gone", settings_.rank), ending);
      store_->leave();
    } catch (const std::exception&) {  // rank 0 ended first
    }
  lock.lock();
  finished_ = true;
  changed_.notify_all();
}

// Runs between two beats: publishes the operation if it is a new one.
void Monitor::tell_operation() {
  std::string sign;
  {
    const std::lock_guard lock(mutex_);
    if (!store_failure_.empty() || operation() == operation_told_) return;
    operation_told_ = operation();
    sign = own_sign();
  }
  store_->set(key("progress", settings_.rank), sign);
}

// One beat: publishes this rank's sign of life and verdict; reads who is gone and, if somebody is or a failure is being
// explained, everybody's progress. Rank 0, for which reading costs nothing, always does. The store is called without
// the lock: it may be slow.
void Monitor::exchange_signs() {
  std::string sign, verdict;
  bool explaining = false;
  {
    const std::lock_guard lock(mutex_);
    if (!store_failure_.empty()) return;
    operation_told_ = operation();
    sign = own_sign();
    verdict = std::exchange(verdict_to_tell_, "");
    explaining = explaining_;
  }
  store_->set(key("progress", settings_.rank), sign);
  if (!verdict.empty()) store_->set("verdict", verdict);
  Table gone = store_->list("gone/"), progress;
  if (explaining || !gone.empty() || settings_.rank == 0) {
    progress = store_->list("progress/");
    verdict = store_->find("verdict").value_or("");
  }
  if (settings_.rank == 0) warn_of_silent_ranks(gone, progress);
  const std::lock_guard lock(mutex_);
  gone_ = std::move(gone);
  progress_ = std::move(progress);
  verdict_ = verdict;
  ++beats_;
  set_missed();
  changed_.notify_all();
}

void Monitor::warn_of_silent_ranks(const Table& gone, const Table& progress) {
  for (int rank = 1; rank < settings_.size; ++rank) {
    const auto sign = progress.find(key("progress", rank));
    const Progress last = sign == progress.end() ? Progress{} : parse(sign->second);
    LastSign& seen = signs_[static_cast<std::size_t>(rank)];
    if (last.beat != seen.beat) {
      if (seen.silent) log_warning("rank {} gives signs of life again", rank);
      seen = {last.beat, now(), false};
    } else if (!seen.silent && now() - seen.since >= settings_.silence && !gone.contains(key("gone", rank))) {
      seen.silent = true;
      const std::string host = store_->find(key("place", rank)).value_or("");
      log_warning("rank {}{} has given no sign of life for {:.3g} s ({}): it is stopped, cut off or overloaded", rank,
                  host.empty() ? "" : " on " + host, std::chrono::duration<double>(settings_.silence).count(),
                  sign == progress.end() ? "it has not joined" : where(last));
    }
  }
}

void Monitor::warn_of_silent_store() {
  const Duration since = asking_since_;
  const bool silent = since != kNotAsking && now() - since >= settings_.silence;
  if (settings_.rank == 1 && silent && !told_of_store_)
    log_warning("rank 0, which holds the job's store, has given no sign of life for {:.3g} s",
                std::chrono::duration<double>(settings_.silence).count());
  told_of_store_ = silent;
}

bool Monitor::stuck() {
  const std::lock_guard lock(mutex_);
  const auto asked = std::min(deadline_.load(), missed_ ? missed_since_ : Duration::max() - settings_.grace);
  const bool result = running_ && !explaining_ && now() > asked + settings_.grace;
  if (result) running_ = false;
  return result;
}

void Monitor::set_missed() {
  if (!missed_) missed_since_ = now();
  missed_ = somebody_is_missed();
}

// A rank that left in order is missed only if it left before the operation under way.
bool Monitor::somebody_is_missed() const {
  if (!running_) return false;
  if (!store_failure_.empty()) return true;
  return std::ranges::any_of(gone_, [&](const auto& entry) {
    std::istringstream words(entry.second);
    std::string how;
    std::uint64_t number = 0;
    words >> how >> number;
    return how != "left" || number < number_;
  });
}

std::string Monitor::explain(const std::string& failure) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = operation() + " failed on rank " + std::to_string(settings_.rank);
    if (abandoned_) return text + ": it was abandoned";
    const double limit = std::chrono::duration<double>(settings_.timeout).count();
    text += ": " + (out_of_time() ? fmt::format("it did not end within {:.3g} s", limit) : failure);
  }
  const std::string names = suspects();
  if (failed_rank(names)) return names;
  return names.empty() ? text : text + "; " + names;
}

// Waits until the thread has read the tables twice after the failure, so that they show the state after it,
// then judges.
std::string Monitor::suspects() {
  if (!store_) return "";
  std::unique_lock lock(mutex_);
  explaining_ = true;
  const std::uint64_t start = beats_;
  const auto patience = kPatience * settings_.beat + std::chrono::milliseconds(500);
  const auto wait_for_beat = [&](std::uint64_t beat) {
    changed_.wait_for(lock, patience, [&] { return beats_ >= beat || !verdict_.empty() || !store_failure_.empty(); });
  };
  wait_for_beat(start + 2);
  std::string names;
  if (!verdict_.empty()) {
    names = verdict_;
  } else if (!store_failure_.empty()) {
    names = "rank 0, which holds the job's store, cannot be reached: " + store_failure_;
  } else if (beats_ == start) {
    store_silent_ = true;
    names = fmt::format("rank 0, which holds the job's store, {}", kSilent);
  } else {
    const Table before = progress_;
    for (std::uint64_t beat = start + 3; beat < start + 3 + kPatience && suspects_gone().empty(); ++beat)
      wait_for_beat(beat);
    names = !verdict_.empty() ? verdict_ : suspects_gone();
    if (names.empty()) names = suspects_silent(before);
    verdict_to_tell_ = names;
  }
  explaining_ = false;
  return names;
}

std::string Monitor::suspects_gone() const {
  std::string names;
  for (int rank = 0; rank < settings_.size; ++rank)
    if (const auto entry = gone_.find(key("gone", rank)); entry != gone_.end() && entry->second.starts_with(kReason))
      return failure_sentence(rank, std::string_view(entry->second).substr(kReason.size()));
  for (int rank = 0; rank < settings_.size; ++rank) {
    const auto entry = gone_.find(key("gone", rank));
    if (entry == gone_.end()) continue;
    const auto sign = progress_.find(key("progress", rank));
    const Progress last = sign == progress_.end() ? Progress{} : parse(sign->second);
    if (entry->second == "died")
      append(names, fmt::format("rank {} died or lost its connection ({})", rank, where(last)));
    else if (entry->second == kFailed)
      append(names, fmt::format("rank {} failed ({})", rank, where(last)));
    else if (last.number < number_)
      append(names, fmt::format("rank {} has left the job ({})", rank, where(last)));
  }
  return names;
}

// Ranks whose beat is still that of `before`; if there are none, ranks that have not reached the operation.
std::string Monitor::suspects_silent(const Table& before) const {
  std::string silent, behind;
  for (int rank = 0; rank < settings_.size; ++rank) {
    const std::string name = key("progress", rank);
    const auto sign = progress_.find(name);
    if (sign == progress_.end()) {
      append(silent, fmt::format("rank {} never joined", rank));
      continue;
    }
    const Progress last = parse(sign->second);
    const auto earlier = before.find(name);
    if (rank != settings_.rank && earlier != before.end() && parse(earlier->second).beat == last.beat)
      append(silent, fmt::format("rank {} {} ({})", rank, kSilent, where(last)));
    else if (last.number < number_)
      append(behind, fmt::format("rank {} has not reached it ({})", rank, where(last)));
  }
  return silent.empty() ? behind : silent;
}

void Monitor::report_failure(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  reason_ = sentence.substr(0, kLongestReason);
}

void Monitor::stop(bool failed) {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  ending_ = failed ? Ending::failed : Ending::left;
  changed_.notify_all();
  const auto patience = store_silent_ ? std::chrono::seconds(0) : kFarewell;
  if (!changed_.wait_for(lock, patience, [&] { return finished_; })) store_->interrupt();
  lock.unlock();
  thread_.join();
}

}  // namespace hearth::comm
