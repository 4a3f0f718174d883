#include "hearth/comm/thread_plugin.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <vector>

#include "hearth/base/rounding.h"

namespace hearth::comm {
namespace {

constexpr const char* kMeetingPlace = "threads";

struct Buffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
};

struct Request {
  int from, tag;
  std::byte* data;
  std::size_t bytes;
};

class Hub;

// One rank's handle.
struct Rank {
  Hub* hub = nullptr;
  HearthCommWorld world{};
  Buffers buffers;
  std::list<Request> requests;
};

// The shared state of the ranks. It owns their handles, because after a failure ranks do not leave.
class Hub {
 public:
  explicit Hub(int size) : size_(size), ranks_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }
  Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }
  Buffers& buffers(int number) { return rank(number).buffers; }

  // A barrier that may be given up. False if this rank or another gave up; the hub is broken from then on.
  bool wait_for_all(const HearthCommWorld& world) {
    return wait_for_all([&] { return world.give_up(world.context) != 0; });
  }
  // The barrier at the end of an operation. All ranks have passed wait_for_all(), so all will arrive here: no rank
  // gives up, and no buffer is freed while others read it.
  void leave_together() {
    wait_for_all([] { return false; });
  }

  void post(int from, int to, int tag, std::vector<std::byte> message) {
    const std::lock_guard lock(mutex_);
    mail_[{from, to, tag}].push_back(std::move(message));
  }
  bool take(int from, int to, int tag, std::vector<std::byte>& message) {
    const std::lock_guard lock(mutex_);
    const auto box = mail_.find({from, to, tag});
    if (box == mail_.end() || box->second.empty()) return false;
    message = std::move(box->second.front());
    box->second.pop_front();
    return true;
  }

 private:
  template <class GiveUp>
  bool wait_for_all(GiveUp give_up) {
    std::unique_lock lock(mutex_);
    if (broken_) return false;
    const std::uint64_t meeting = meeting_;
    if (++here_ == size_) {
      here_ = 0;
      ++meeting_;
      changed_.notify_all();
      return true;
    }
    while (meeting_ == meeting && !broken_) {
      changed_.wait_for(lock, std::chrono::milliseconds(5));
      if (meeting_ == meeting && give_up()) {
        broken_ = true;
        changed_.notify_all();
      }
    }
    return meeting_ != meeting;
  }

  const int size_;
  std::vector<Rank> ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;
  std::uint64_t meeting_ = 0;
  bool broken_ = false;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> mail_;
};

class ThreadStore final : public MemoryStore {
 public:
  explicit ThreadStore(int size) : hub_(size) {
    Hub* const address = &hub_;
    set(std::string("plugin/") + kMeetingPlace, std::string(reinterpret_cast<const char*>(&address), sizeof address));
  }

 private:
  Hub hub_;
};

constexpr const char* kBroken = "another rank did not take part";

Rank& cast(void* handle) { return *static_cast<Rank*>(handle); }

// Runs `work` on all ranks once all have published their buffers.
template <class Work>
const char* run_collective(void* handle, const void* in, void* out, Work work) {
  Rank& own = cast(handle);
  own.buffers = {static_cast<const std::byte*>(in), static_cast<std::byte*>(out)};
  if (!own.hub->wait_for_all(own.world)) return kBroken;
  work(*own.hub, static_cast<std::size_t>(own.world.rank));
  own.hub->leave_together();
  return nullptr;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

template <class T>
T combine(T a, T b, HearthCommOp op) {
  switch (op) {
    case HEARTH_PROD:
      return static_cast<T>(a * b);
    case HEARTH_MIN:
      return std::min(a, b);
    case HEARTH_MAX:
      return std::max(a, b);
    default:
      return static_cast<T>(a + b);
  }
}

// Elements [begin, end) of every rank's input, in the order of ranks; store(i, value) takes each result.
template <class T, class Sink>
void reduce_range(Hub& hub, std::size_t begin, std::size_t end, HearthCommOp op, Sink store) {
  for (std::size_t i = begin; i < end; ++i) {
    const auto value = [&](int rank) { return reinterpret_cast<const T*>(hub.buffers(rank).in)[i]; };
    T result = value(0);
    for (int rank = 1; rank < hub.size(); ++rank) result = combine(result, value(rank), op);
    store(i, result);
  }
}

template <class Function>
void with_type(HearthCommType type, Function function) {
  switch (type) {
    case HEARTH_F32:
      return function(float{});
    case HEARTH_F64:
      return function(double{});
    case HEARTH_I32:
      return function(std::int32_t{});
    case HEARTH_I64:
      return function(std::int64_t{});
    case HEARTH_U8:
      return function(std::uint8_t{});
  }
}

// Each rank reduces a range of its own and writes it into the outputs of ranks [first, last).
const char* reduce_into(void* handle, void* data, std::size_t count, HearthCommType type, HearthCommOp op, int first,
                        int last) {
  return run_collective(handle, data, data, [=](Hub& hub, std::size_t rank) {
    const auto ranks = static_cast<std::size_t>(hub.size());
    with_type(type, [&]<class T>(T) {
      reduce_range<T>(hub, count * rank / ranks, count * (rank + 1) / ranks, op, [&](std::size_t i, T value) {
        for (int to = first; to < last; ++to) reinterpret_cast<T*>(hub.buffers(to).out)[i] = value;
      });
    });
  });
}

const char* join(const HearthCommWorld* world, void** handle) {
  Hub* hub = nullptr;
  std::size_t size = 0;
  if (world->store_get(world->context, kMeetingPlace, &hub, sizeof hub, &size) != 0)
    return "there is no world of threads";
  Rank& own = hub->rank(world->rank);
  own.hub = hub;
  own.world = *world;
  *handle = &own;
  return hub->wait_for_all(*world) ? nullptr : kBroken;
}

const char* all_reduce(void* handle, void* data, std::size_t count, HearthCommType type, HearthCommOp op) {
  return reduce_into(handle, data, count, type, op, 0, cast(handle).hub->size());
}

const char* reduce(void* handle, void* data, std::size_t count, HearthCommType type, HearthCommOp op, int root) {
  return reduce_into(handle, data, count, type, op, root, root + 1);
}

const char* reduce_scatter(void* handle, const void* whole, void* part, std::size_t count, HearthCommType type,
                           HearthCommOp op) {
  return run_collective(handle, whole, part, [=](Hub& hub, std::size_t rank) {
    with_type(type, [&]<class T>(T) {
      reduce_range<T>(hub, rank * count, (rank + 1) * count, op,
                      [&](std::size_t i, T value) { static_cast<T*>(part)[i - rank * count] = value; });
    });
  });
}

const char* broadcast(void* handle, void* data, std::size_t bytes, int root) {
  return run_collective(handle, data, data, [=](Hub& hub, std::size_t) {
    copy_bytes(static_cast<std::byte*>(data), hub.buffers(root).in, bytes);
  });
}

const char* all_gather(void* handle, const void* part, void* whole, std::size_t bytes) {
  return run_collective(handle, part, whole, [=](Hub& hub, std::size_t) {
    for (int from = 0; from < hub.size(); ++from)
      copy_bytes(static_cast<std::byte*>(whole) + static_cast<std::size_t>(from) * bytes, hub.buffers(from).in, bytes);
  });
}

const char* gather(void* handle, const void* part, void* whole, std::size_t bytes, int root) {
  return run_collective(handle, part, whole, [=](Hub& hub, std::size_t rank) {
    copy_bytes(hub.buffers(root).out + rank * bytes, static_cast<const std::byte*>(part), bytes);
  });
}

const char* scatter(void* handle, const void* whole, void* part, std::size_t bytes, int root) {
  return run_collective(handle, whole, part, [=](Hub& hub, std::size_t rank) {
    copy_bytes(static_cast<std::byte*>(part), hub.buffers(root).in + rank * bytes, bytes);
  });
}

const char* all_to_all(void* handle, const void* in, void* out, std::size_t bytes) {
  return run_collective(handle, in, out, [=](Hub& hub, std::size_t rank) {
    for (int from = 0; from < hub.size(); ++from)
      copy_bytes(static_cast<std::byte*>(out) + static_cast<std::size_t>(from) * bytes,
                 hub.buffers(from).in + rank * bytes, bytes);
  });
}

const char* barrier(void* handle) {
  return run_collective(handle, nullptr, nullptr, [](Hub&, std::size_t) {});
}

const char* send(void* handle, const void* data, std::size_t bytes, int to, int tag, void** request) {
  const auto* const begin = static_cast<const std::byte*>(data);
  const Rank& own = cast(handle);
  own.hub->post(own.world.rank, to, tag, {begin, begin + bytes});
  *request = nullptr;
  return nullptr;
}

const char* recv(void* handle, void* data, std::size_t bytes, int from, int tag, void** request) {
  *request = &cast(handle).requests.emplace_back(Request{from, tag, static_cast<std::byte*>(data), bytes});
  return nullptr;
}

const char* poll(void* handle, void* pending, int* done) {
  const auto* const request = static_cast<const Request*>(pending);
  Rank& own = cast(handle);
  std::vector<std::byte> message;
  *done = request == nullptr || own.hub->take(request->from, own.world.rank, request->tag, message);
  if (request == nullptr || *done == 0) return nullptr;
  const bool fits = message.size() == request->bytes;
  if (fits) copy_bytes(request->data, message.data(), message.size());
  own.requests.remove_if([&](const Request& other) { return &other == request; });
  return fits ? nullptr : "a message does not have the expected size";
}

// Memory of all ranks begins with the number of ranks that hold it.
using Holders = std::atomic<int>;
constexpr std::size_t kHoldersBytes = 64;  // keeps the memory behind it aligned

const char* share(void* handle, std::size_t bytes, void** memory) {
  std::byte* made = nullptr;
  if (cast(handle).world.rank == 0) {
    made = static_cast<std::byte*>(std::aligned_alloc(kHoldersBytes, kHoldersBytes + round_up(bytes, kHoldersBytes)));
    if (made == nullptr) return "there is no memory left to share";
    std::memset(made, 0, kHoldersBytes + bytes);
    new (made) Holders(cast(handle).hub->size());
  }
  return run_collective(handle, made, nullptr, [&](Hub& hub, std::size_t) {
    *memory = const_cast<std::byte*>(hub.buffers(0).in) + kHoldersBytes;
  });
}

void unshare(void* memory, std::size_t) {
  std::byte* const made = static_cast<std::byte*>(memory) - kHoldersBytes;
  if (--*reinterpret_cast<Holders*>(made) == 0) std::free(made);
}

void leave(void*) {}

}  // namespace

const HearthCommPlugin& thread_plugin() {
  static constexpr HearthCommPlugin plugin{HEARTH_COMM_ABI,
                                           "threads",
                                           "threads of this process",
                                           0,
                                           nullptr,
                                           0,
                                           join,
                                           all_reduce,
                                           reduce,
                                           reduce_scatter,
                                           broadcast,
                                           all_gather,
                                           gather,
                                           scatter,
                                           all_to_all,
                                           barrier,
                                           send,
                                           recv,
                                           poll,
                                           share,
                                           unshare,
                                           leave};
  return plugin;
}

std::shared_ptr<Store> thread_store(int size) { return std::make_shared<ThreadStore>(size); }

}  // namespace hearth::comm
