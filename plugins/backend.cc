#include "plugins/backend.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace hearth::plugins {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::size_t kSliceBytes = std::size_t{64} << 20;

MakeBackend make_backend;

// The pieces of one message.
using Requests = std::vector<std::unique_ptr<Request>>;

template <typename Action>
const char* answer(Action&& action) {
  static std::string sentence;
  try {
    action();
    return nullptr;
  } catch (const std::exception& error) {
    sentence = error.what();
    return sentence.c_str();
  }
}

Backend& backend_of(void* backend) { return *static_cast<Backend*>(backend); }

// Calls piece(offset, size) for each piece of `total`.
template <typename Piece>
void by_pieces(std::size_t total, std::size_t largest, Piece&& piece) {
  for (std::size_t offset = 0; offset < total; offset += largest) piece(offset, std::min(largest, total - offset));
}

std::size_t elements_in(std::size_t bytes, Type type) { return std::max<std::size_t>(1, bytes / bytes_of(type)); }

// Runs an exchange over buffers that hold one part of `bytes` per rank. If they fit into a message, in one call; else
// slice by slice, where a slice has the same piece of every part. exchange(in, out, offset, bytes) gets the buffers of
// a slice and its place within a part. `in` or `out` may be null: this rank has no such buffer.
template <typename Exchange>
void by_slices(Backend& backend, const void* in, void* out, std::size_t bytes, std::size_t unit, Exchange&& exchange) {
  const std::size_t size = backend.world().size, limit = backend.world().max_message_bytes;
  if (bytes == 0) return;
  if (bytes * size <= limit) return exchange(in, out, std::size_t{0}, bytes);
  const std::size_t largest = std::max<std::size_t>(1, std::min(limit, kSliceBytes) / size / unit) * unit;
  char* const packed = backend.packed.with_size(in ? largest * size : 0);
  char* const unpacked = backend.unpacked.with_size(out ? largest * size : 0);
  by_pieces(bytes, largest, [&](std::size_t offset, std::size_t piece) {
    for (std::size_t r = 0; in && r < size; ++r) {
      std::memcpy(packed + r * piece, static_cast<const char*>(in) + r * bytes + offset, piece);
    }
    exchange(packed, unpacked, offset, piece);
    for (std::size_t r = 0; out && r < size; ++r) {
      std::memcpy(static_cast<char*>(out) + r * bytes + offset, unpacked + r * piece, piece);
    }
  });
}

const char* join(const HearthCommWorld* world, void** backend) {
  return answer([&] { *backend = make_backend(World(*world)).release(); });
}

// Reduces piece by piece: reduction(backend, data, count).
template <typename Reduction>
const char* reduce_pieces(void* backend, void* data, std::size_t count, Type type, Reduction&& reduction) {
  return answer([&] {
    Backend& e = backend_of(backend);
    by_pieces(count, elements_in(e.reduction_bytes(), type), [&](std::size_t offset, std::size_t piece) {
      reduction(e, static_cast<char*>(data) + offset * bytes_of(type), piece);
    });
  });
}

const char* all_reduce(void* backend, void* data, std::size_t count, Type type, Op op) {
  return reduce_pieces(backend, data, count, type,
                       [=](Backend& e, void* piece, std::size_t n) { e.all_reduce(piece, n, type, op); });
}

const char* reduce(void* backend, void* data, std::size_t count, Type type, Op op, int root) {
  return reduce_pieces(backend, data, count, type,
                       [=](Backend& e, void* piece, std::size_t n) { e.reduce(piece, n, type, op, root); });
}

const char* reduce_scatter(void* backend, const void* whole, void* part, std::size_t count, Type type, Op op) {
  return answer([&] {
    Backend& e = backend_of(backend);
    by_slices(e, whole, nullptr, count * bytes_of(type), bytes_of(type),
              [&](const void* in, void*, std::size_t at, std::size_t piece) {
                e.reduce_scatter(in, static_cast<char*>(part) + at, piece / bytes_of(type), type, op);
              });
  });
}

const char* broadcast(void* backend, void* data, std::size_t bytes, int root) {
  return answer([&] {
    Backend& e = backend_of(backend);
    by_pieces(bytes, e.world().max_message_bytes, [&](std::size_t offset, std::size_t piece) {
      e.broadcast(static_cast<char*>(data) + offset, piece, root);
    });
  });
}

const char* all_gather(void* backend, const void* part, void* whole, std::size_t bytes) {
  return answer([&] {
    Backend& e = backend_of(backend);
    by_slices(e, nullptr, whole, bytes, 1, [&](const void*, void* out, std::size_t at, std::size_t piece) {
      e.all_gather(static_cast<const char*>(part) + at, out, piece);
    });
  });
}

const char* gather(void* backend, const void* part, void* whole, std::size_t bytes, int root) {
  return answer([&] {
    Backend& e = backend_of(backend);
    void* mine = e.world().rank == root ? whole : nullptr;
    by_slices(e, nullptr, mine, bytes, 1, [&](const void*, void* out, std::size_t at, std::size_t piece) {
      e.gather(static_cast<const char*>(part) + at, out, piece, root);
    });
  });
}

const char* scatter(void* backend, const void* whole, void* part, std::size_t bytes, int root) {
  return answer([&] {
    Backend& e = backend_of(backend);
    const void* mine = e.world().rank == root ? whole : nullptr;
    by_slices(e, mine, nullptr, bytes, 1, [&](const void* in, void*, std::size_t at, std::size_t piece) {
      e.scatter(in, static_cast<char*>(part) + at, piece, root);
    });
  });
}

const char* all_to_all(void* backend, const void* in, void* out, std::size_t bytes) {
  return answer([&] {
    Backend& e = backend_of(backend);
    by_slices(e, in, out, bytes, 1,
              [&](const void* from, void* to, std::size_t, std::size_t piece) { e.all_to_all(from, to, piece); });
  });
}

const char* barrier(void* backend) {
  return answer([&] { backend_of(backend).barrier(); });
}

// Starts a message piece by piece: start(backend, offset, bytes).
template <typename Start>
const char* start_pieces(void* backend, std::size_t bytes, void** request, Start&& start) {
  return answer([&] {
    Backend& e = backend_of(backend);
    auto requests = std::make_unique<Requests>();
    by_pieces(bytes, e.world().max_message_bytes,
              [&](std::size_t offset, std::size_t piece) { requests->push_back(start(e, offset, piece)); });
    *request = requests.release();
  });
}

const char* send(void* backend, const void* data, std::size_t bytes, int to, int tag, void** request) {
  return start_pieces(backend, bytes, request, [=](Backend& e, std::size_t offset, std::size_t piece) {
    return e.send(static_cast<const char*>(data) + offset, piece, to, tag);
  });
}

const char* recv(void* backend, void* data, std::size_t bytes, int from, int tag, void** request) {
  return start_pieces(backend, bytes, request, [=](Backend& e, std::size_t offset, std::size_t piece) {
    return e.recv(static_cast<char*>(data) + offset, piece, from, tag);
  });
}

const char* poll(void*, void* request, int* done) {
  return answer([&] {
    auto* requests = static_cast<Requests*>(request);
    std::erase_if(*requests, [](const std::unique_ptr<Request>& piece) { return piece->done(); });
    *done = requests->empty();
    if (*done) delete requests;
  });
}

const char* share(void* backend, std::size_t bytes, void** memory) {
  return answer([&] { *memory = backend_of(backend).share(bytes); });
}

void leave(void* backend) {
  const std::unique_ptr<Backend> left(static_cast<Backend*>(backend));
  answer([&] { left->leave(); });
}

}  // namespace

std::size_t bytes_of(Type type) {
  switch (type) {
    case HEARTH_F32:
    case HEARTH_I32:
      return 4;
    case HEARTH_F64:
    case HEARTH_I64:
      return 8;
    case HEARTH_U8:
      return 1;
  }
  throw std::runtime_error("a dtype of another version of Hearth");
}

World::World(const HearthCommWorld& world)
    : rank(world.rank),
      size(world.size),
      local_rank(world.local_rank),
      local_size(world.local_size),
      address(world.address ? world.address : ""),
      timeout(world.timeout_ms),
      max_message_bytes(world.max_message_bytes),
      given(world) {}

void World::set(const std::string& key, const std::vector<char>& value) const {
  if (given.store_set(given.context, key.c_str(), value.data(), value.size()) != 0) {
    throw std::runtime_error("the job's store did not accept " + key);
  }
}

std::vector<char> World::get(const std::string& key) const {
  std::vector<char> value(std::size_t{1} << 16);
  std::size_t length = 0;
  if (given.store_get(given.context, key.c_str(), value.data(), value.size(), &length) != 0) {
    throw std::runtime_error("the job's store has no " + key + ": another rank did not come");
  }
  value.resize(length);
  return value;
}

Backoff::Backoff(const World& world) : world_(world), resumed_(Clock::now()) {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // the default makes every short sleep 50 us longer
}

void Backoff::pause() {
  constexpr auto kWork = microseconds(3);  // a test that found nothing to do takes less
  constexpr int kYields = 64;
  const auto now = Clock::now();
  idle_ = now - resumed_ > kWork ? 0 : idle_ + 1;
  if (world_.given_up()) throw std::runtime_error("given up while waiting for other ranks");
  if (idle_ < kYields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(microseconds(std::min(100, 5 + (idle_ - kYields) / 8)));
  }
  resumed_ = Clock::now();
}

const HearthCommPlugin* plugin_of(const Description& description, MakeBackend make) {
  static const Description kept = description;
  static const HearthCommPlugin plugin = {HEARTH_COMM_ABI,
                                          kept.name,
                                          kept.library.c_str(),
                                          kept.preference,
                                          kept.refusal,
                                          kept.overlaps_without_threads,
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
                                          kept.unshare == nullptr ? nullptr : share,
                                          kept.unshare,
                                          leave};
  make_backend = make;
  return &plugin;
}

}  // namespace hearth::plugins
