#include "hearth/comm/store.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"

namespace hearth::comm {

using std::chrono::steady_clock;

std::string Store::get(const std::string& key, Milliseconds timeout, const std::function<bool()>& give_up) {
  constexpr Milliseconds kLongestRound{1000};  // the rest is time in which this process was stopped
  steady_clock::duration waited{};
  Milliseconds pause{1};
  while (true) {
    const auto begin = steady_clock::now();
    if (auto value = find(key)) return *value;
    hearth::check(!(give_up && give_up()), "[store] waiting for {} was given up", key);
    hearth::check(waited < timeout, "[store] {} was not set within {:.3g} s", key,
                  std::chrono::duration<double>(timeout).count());
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, Milliseconds(20));
    waited += std::min<steady_clock::duration>(steady_clock::now() - begin, kLongestRound);
  }
}

void Store::wait(std::span<const std::string> keys, Milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (const std::string& key : keys)
    get(key, std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(deadline - steady_clock::now())));
}

void MemoryStore::replace(const std::string& key, std::string value) {
  const auto [place, fresh] = values_.try_emplace(key);
  bytes_ += (fresh ? key.size() : 0) + value.size() - place->second.size();
  place->second = std::move(value);
}

void MemoryStore::set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  replace(key, value);
}

std::optional<std::string> MemoryStore::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::int64_t MemoryStore::add(const std::string& key, std::int64_t amount) {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  if (const auto found = values_.find(key); found != values_.end()) {
    const auto held = whole_number<std::int64_t>(found->second);
    hearth::check(held.has_value(), "[store] {} is not a number", key);
    sum = *held;
  }
  hearth::check(!__builtin_add_overflow(sum, amount, &sum), "[store] {} would become too large", key);
  replace(key, std::to_string(sum));
  return sum;
}

std::size_t MemoryStore::bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::map<std::string, std::string> MemoryStore::list(const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  const auto begin = values_.lower_bound(prefix);
  return {begin, std::find_if(begin, values_.end(), [&](const auto& pair) { return !pair.first.starts_with(prefix); })};
}

}  // namespace hearth::comm
