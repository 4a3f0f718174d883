// Ranks of one host, through memory that all of them map.
//
// Terms:
//   segment   the memory of the group: a Board, then two slots per rank, then one channel per pair of ranks.
//   slot      where a rank puts what the others read. A rank fills one of its two slots, all ranks meet, and everyone
//             takes what it needs from the slots of the others. The next round uses the other slot: when a slot is
//             filled again, all ranks have met once more, so nobody reads it any longer.
//   piece     what fits into a slot; larger operations go piece by piece and stay in cache.
//   channel   a ring of bytes from one rank to another, for messages (messages.h).
//
// Large arrays do not go through here: parallel/shared_arenas.h lays gradients and weights into memory of share(), and
// the ranks read each other's.

#include <algorithm>
#include <cstring>
#include <map>

#include "plugins/backend.h"
#include "plugins/messages.h"
#include "plugins/reduction.h"
#include "plugins/shared_segment.h"

namespace hearth::plugins {
namespace {

constexpr std::size_t kSlotBytes = std::size_t{256} << 10, kRingBytes = std::size_t{64} << 10;

struct Channel {
  alignas(64) std::atomic<std::uint64_t> written;  // bytes so far
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) char ring[kRingBytes];
};

struct Board {
  Meeting meeting;
  SegmentAddress shared;  // rank 0's latest
};

// A transfer through a channel: done() moves as many bytes as there is room for, or as have come.
template <class Move>
class Transfer : public Request {
 public:
  Transfer(std::size_t bytes, Move move) : left_(bytes), move_(std::move(move)) {}
  bool done() override {
    const std::size_t moved = move_(left_);
    left_ -= moved;
    return left_ == 0;
  }

 private:
  std::size_t left_;
  Move move_;
};

template <class Move>
std::unique_ptr<Request> transfer(std::size_t bytes, Move move) {
  return std::make_unique<Transfer<Move>>(bytes, std::move(move));
}

// The bytes of the ring from position `at` that lie in one stretch, at most `most`.
std::size_t stretch(std::uint64_t at, std::size_t most) { return std::min(most, kRingBytes - at % kRingBytes); }

std::unique_ptr<Request> write_to(Channel& channel, const void* data, std::size_t bytes) {
  return transfer(bytes, [&channel, from = static_cast<const char*>(data)](std::size_t left) mutable {
    const std::uint64_t at = channel.written.load();
    const std::size_t size = stretch(at, std::min<std::size_t>(left, kRingBytes - (at - channel.read.load())));
    std::memcpy(channel.ring + at % kRingBytes, from, size);
    from += size;
    channel.written.store(at + size);
    return size;
  });
}

std::unique_ptr<Request> read_from(Channel& channel, void* data, std::size_t bytes) {
  return transfer(bytes, [&channel, to = static_cast<char*>(data)](std::size_t left) mutable {
    const std::uint64_t at = channel.read.load();
    const std::size_t size = stretch(at, std::min<std::size_t>(left, channel.written.load() - at));
    std::memcpy(to, channel.ring + at % kRingBytes, size);
    to += size;
    channel.read.store(at + size);
    return size;
  });
}

class ShmBackend : public Backend {
 public:
  explicit ShmBackend(const World& world) : Backend(world) {
    const std::size_t ranks = world_.size;
    bytes_ = sizeof(Board) + ranks * 2 * kSlotBytes + ranks * ranks * sizeof(Channel);
    const std::string key = "shm/segment";
    if (world_.rank == 0) {
      const NewSegment made(bytes_);
      memory_ = static_cast<char*>(made.memory());
      world_.set(key, bytes_of_address(made.address()));
      barrier();
    } else {
      SegmentAddress address;
      const std::vector<char> found = world_.get(key);
      if (found.size() != sizeof address) throw std::runtime_error("rank 0 runs another version of Hearth");
      std::memcpy(&address, found.data(), sizeof address);
      memory_ = static_cast<char*>(open_segment(address));
      barrier();
    }
  }

  std::size_t reduction_bytes() const override { return std::min(kSlotBytes, world_.max_message_bytes); }

  void all_reduce(void* data, std::size_t count, Type type, Op op) override {
    reduce_in_slots(data, count, type, op);
    take_sums(data, count, type);
    next_round();
  }

  void reduce(void* data, std::size_t count, Type type, Op op, int root) override {
    reduce_in_slots(data, count, type, op);
    if (world_.rank == root) take_sums(data, count, type);
    next_round();
  }

  void reduce_scatter(const void* whole, void* part, std::size_t count, Type type, Op op) override {
    const std::size_t bytes = count * bytes_of(type);
    by_parts(bytes, bytes_of(type), [&](std::size_t offset, std::size_t piece) {
      put_parts(whole, bytes, offset, piece);
      barrier();
      combine(static_cast<char*>(part) + offset, world_.rank * piece, piece / bytes_of(type), type, op);
    });
  }

  void broadcast(void* data, std::size_t bytes, int root) override {
    by_pieces(bytes, [&](std::size_t offset, std::size_t piece) {
      char* const at = static_cast<char*>(data) + offset;
      if (world_.rank == root) std::memcpy(slot(root), at, piece);
      barrier();
      if (world_.rank != root) std::memcpy(at, slot(root), piece);
    });
  }

  void all_gather(const void* part, void* whole, std::size_t bytes) override { gather_to(true, part, whole, bytes); }

  void gather(const void* part, void* whole, std::size_t bytes, int root) override {
    gather_to(world_.rank == root, part, whole, bytes);
  }

  void scatter(const void* whole, void* part, std::size_t bytes, int root) override {
    by_parts(bytes, 1, [&](std::size_t offset, std::size_t piece) {
      if (world_.rank == root) put_parts(whole, bytes, offset, piece);
      barrier();
      std::memcpy(static_cast<char*>(part) + offset, slot(root) + world_.rank * piece, piece);
    });
  }

  void all_to_all(const void* in, void* out, std::size_t bytes) override {
    by_parts(bytes, 1, [&](std::size_t offset, std::size_t piece) {
      put_parts(in, bytes, offset, piece);
      barrier();
      for (int from = 0; from < world_.size; ++from) {
        std::memcpy(static_cast<char*>(out) + from * bytes + offset, slot(from) + world_.rank * piece, piece);
      }
    });
  }

  void barrier() override { board().meeting.wait_for_all(world_); }

  std::unique_ptr<Request> send(const void* data, std::size_t bytes, int to, int tag) override {
    Channel& out = channel(world_.rank, to);
    const auto start = [&out](const void* from, std::size_t size) { return write_to(out, from, size); };
    return outboxes_.try_emplace(to, start).first->second.send(data, bytes, tag);
  }

  std::unique_ptr<Request> recv(void* data, std::size_t bytes, int from, int tag) override {
    Channel& in = channel(from, world_.rank);
    const auto start = [&in](void* to, std::size_t size) { return read_from(in, to, size); };
    return inboxes_.try_emplace(from, from, start).first->second.recv(data, bytes, tag);
  }

  void* share(std::size_t bytes) override {
    if (world_.rank == 0) {
      const NewSegment made(bytes);
      board().shared = made.address();
      barrier();
      barrier();  // all have opened it
      return made.memory();
    }
    barrier();
    void* const memory = open_segment(board().shared);
    barrier();
    return memory;
  }

  void leave() override {
    barrier();
    outboxes_.clear();
    inboxes_.clear();
    unmap(memory_, bytes_);
  }

 private:
  static std::vector<char> bytes_of_address(const SegmentAddress& address) {
    const auto* const begin = reinterpret_cast<const char*>(&address);
    return {begin, begin + sizeof address};
  }

  Board& board() const { return *reinterpret_cast<Board*>(memory_); }
  char* slot(int rank) const { return memory_ + sizeof(Board) + (2 * rank + round_ % 2) * kSlotBytes; }
  Channel& channel(int from, int to) const {
    char* const channels = memory_ + sizeof(Board) + world_.size * 2 * kSlotBytes;
    return reinterpret_cast<Channel*>(channels)[from * world_.size + to];
  }

  void next_round() { ++round_; }

  // Runs round(offset, size) for pieces of at most a slot.
  template <class Round>
  void by_pieces(std::size_t total, Round&& round, std::size_t largest = kSlotBytes) {
    for (std::size_t offset = 0; offset < total; offset += largest) {
      round(offset, std::min(largest, total - offset));
      next_round();
    }
  }

  // The same where a slot holds one piece per rank, each a multiple of `unit`.
  template <class Round>
  void by_parts(std::size_t total, std::size_t unit, Round&& round) {
    by_pieces(total, round, std::max<std::size_t>(1, kSlotBytes / world_.size / unit) * unit);
  }

  // The piece of every part, for the rank that the part belongs to.
  void put_parts(const void* whole, std::size_t bytes, std::size_t offset, std::size_t piece) {
    for (int to = 0; to < world_.size; ++to) {
      std::memcpy(slot(world_.rank) + to * piece, static_cast<const char*>(whole) + to * bytes + offset, piece);
    }
  }

  void gather_to(bool here, const void* part, void* whole, std::size_t bytes) {
    by_pieces(bytes, [&](std::size_t offset, std::size_t piece) {
      std::memcpy(slot(world_.rank), static_cast<const char*>(part) + offset, piece);
      barrier();
      for (int from = 0; here && from < world_.size; ++from) {
        std::memcpy(static_cast<char*>(whole) + from * bytes + offset, slot(from), piece);
      }
    });
  }

  // The values at `place` of all slots, combined in the order of ranks.
  void combine(void* result, std::size_t place, std::size_t count, Type type, Op op) {
    with_type(result, type, op, [&](auto*, Reduction* reduction) {
      std::memcpy(result, slot(0) + place, count * bytes_of(type));
      for (int other = 1; other < world_.size; ++other) reduction(result, result, slot(other) + place, count);
    });
  }

  // Every rank reduces its own stretch of the array, and leaves it at its place in its slot: nobody else reads there.
  std::size_t stretch_begin(int rank, std::size_t count) const { return count * rank / world_.size; }

  void reduce_in_slots(const void* data, std::size_t count, Type type, Op op) {
    const std::size_t width = bytes_of(type), begin = stretch_begin(world_.rank, count);
    const std::size_t size = stretch_begin(world_.rank + 1, count) - begin;
    std::memcpy(slot(world_.rank), data, count * width);
    barrier();
    char* const sums = result_.with_size(kSlotBytes);
    combine(sums, begin * width, size, type, op);
    std::memcpy(slot(world_.rank) + begin * width, sums, size * width);
    barrier();
  }

  void take_sums(void* data, std::size_t count, Type type) {
    const std::size_t width = bytes_of(type);
    for (int rank = 0; rank < world_.size; ++rank) {
      const std::size_t begin = stretch_begin(rank, count) * width, end = stretch_begin(rank + 1, count) * width;
      std::memcpy(static_cast<char*>(data) + begin, slot(rank) + begin, end - begin);
    }
  }

  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t round_ = 0;
  std::map<int, Outbox> outboxes_;  // by rank
  std::map<int, Inbox> inboxes_;    // by rank
  KeptBuffer result_;
};

const char* refusal(const char*, int several_hosts) {
  return several_hosts ? "needs all ranks on one host: use --ddp_backend gloo, mpi or ccl" : nullptr;
}

}  // namespace
}  // namespace hearth::plugins

HEARTH_EXPORT const HearthCommPlugin* hearth_comm_plugin() {
  using namespace hearth::plugins;
  return plugin_of<ShmBackend>(
      {.name = "shm", .library = "shared memory", .preference = 2, .refusal = refusal, .unshare = unmap});
}
