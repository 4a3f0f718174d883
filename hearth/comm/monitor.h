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
#include <vector>

#include "hearth/comm/awake_clock.h"
#include "hearth/comm/store.h"

namespace hearth::comm {

// Finds the rank at fault when an operation of a process group cannot end. monitor.cc describes how.
class Monitor {
 public:
  using Milliseconds = std::chrono::milliseconds;
  struct Settings {
    int rank = 0, size = 1;
    Milliseconds timeout;  // of an operation; only time in which this process runs counts
    Milliseconds beat;     // between two signs of life
    Milliseconds silence;  // of a rank before a warning
    Milliseconds grace;    // for the plug-in to return after give_up() became true
  };

  Monitor(std::shared_ptr<Store> store, Settings settings);  // without a store only the timeout is watched
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // An operation begins and ends. The name is a literal. Collectives (`of_all_ranks`) are counted: the count says how
  // far a rank has come, so ranks can be compared.
  void enter(const char* name, bool of_all_ranks = true);
  void exit();
  bool give_up() const;                  // the operation under way should return an error now
  void abandon() { abandoned_ = true; }  // makes give_up() true for good
  bool stuck();  // true once: the operation was asked to give up and has not returned within `grace`
  // One sentence about the operation under way: what failed, and which rank is at fault.
  std::string explain(const std::string& failure);
  void report_failure(const std::string& sentence);  // why this rank is about to stop(true)
  void stop(bool failed);                            // publishes how this rank ended, and ends the thread; never hangs

 private:
  using Clock = std::chrono::steady_clock;
  using Duration = AwakeClock::Duration;
  using Table = std::map<std::string, std::string>;
  enum class Ending { none, failed, left };
  struct LastSign {
    std::uint64_t beat = 0;
    Duration since{};
    bool silent = false;  // and the user was told
  };

  std::string operation() const;
  std::string own_sign() const;
  Duration now() const;
  bool out_of_time() const;
  void run();
  void tell_operation();
  void exchange_signs();
  void warn_of_silent_ranks(const Table& gone, const Table& progress);
  void warn_of_silent_store();
  void set_missed();
  bool somebody_is_missed() const;
  std::string suspects();
  std::string suspects_gone() const;
  std::string suspects_silent(const Table& before) const;

  static constexpr Duration kNotAsking = Duration::max();

  const std::shared_ptr<Store> store_;
  const Settings settings_;
  std::atomic<bool> abandoned_ = false, missed_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t number_ = 0;
  const char* name_ = "start";
  bool running_ = false;
  Duration missed_since_{};
  std::atomic<Duration> deadline_{};

  // The state that the monitor's thread last read from the store and published there.
  std::uint64_t beats_ = 0;
  Table progress_, gone_;
  std::string operation_told_, verdict_, verdict_to_tell_, store_failure_;
  bool explaining_ = false, store_silent_ = false;
  std::vector<LastSign> signs_;                      // by rank; on rank 0
  std::atomic<Duration> asking_since_ = kNotAsking;  // the store
  bool told_of_store_ = false;

  Ending ending_ = Ending::none;
  std::string reason_;  // of the failure, if this rank knows it
  bool finished_ = false;
  std::thread thread_;
  std::unique_ptr<AwakeClock> clock_;  // none without a store
};

}  // namespace hearth::comm
