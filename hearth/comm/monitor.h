#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "hearth/comm/store.h"

namespace hearth::comm {

// Finds who is at fault when an operation cannot end. Each rank keeps in the store, from a thread of its own, a sign of
// life with the operation it is in (`progress/RANK`: "beat number name"; a new operation is told between beats too) and
// how it went (`gone/RANK`: "died", set by the store itself, "failed", or "left number"); so a stopped rank falls
// silent while one that merely waits does not, and the waiting ones learn at once of one that is gone.
class Monitor {
 public:
  using Milliseconds = std::chrono::milliseconds;
  struct Settings {
    int rank = 0, size = 1;
    Milliseconds timeout, beat, grace;
  };

  Monitor(std::shared_ptr<Store> store, Settings settings);  // without a store only the time is watched
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // The name is a literal. Operations of all ranks are counted, so that ranks can be compared.
  void enter(const char* name, bool of_all_ranks = true);
  void exit();
  bool give_up() const;
  void abandon() { abandoned_ = true; }  // give up whatever runs
  bool stuck();                          // an operation has not ended although it was asked to: true once
  // One sentence about the operation under way: what failed, and through whom.
  std::string explain(const std::string& failure);
  void stop(bool failed);  // the last sign of life; never hangs

 private:
  using Clock = std::chrono::steady_clock;
  using Table = std::map<std::string, std::string>;
  enum class Rest { live, failed, left };

  std::string operation() const;
  std::string own_sign() const;
  bool out_of_time() const;
  void run();
  void tell_operation();
  void exchange_signs();
  void set_missed();
  bool somebody_is_missed() const;
  std::string suspects();
  std::string suspects_gone() const;
  std::string suspects_silent(const Table& before) const;

  const std::shared_ptr<Store> store_;
  const Settings settings_;
  std::atomic<bool> abandoned_ = false, missed_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t number_ = 0;
  const char* name_ = "start";
  bool running_ = false;
  Clock::time_point missed_since_{};
  std::atomic<Clock::time_point> deadline_{};

  // What the thread last read and told.
  std::uint64_t beats_ = 0;
  Table progress_, gone_;
  std::string operation_told_, verdict_, verdict_to_tell_, store_failure_;
  bool explaining_ = false, store_silent_ = false;

  Rest rest_ = Rest::live;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace hearth::comm
