#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>

#include "plugins/backend.h"
#include "plugins/helper.h"
#include "plugins/reduction.h"

namespace hearth::plugins {
namespace {

using Buffer = gloo::transport::UnboundBuffer;

char* bytes_at(const void* data) { return static_cast<char*>(const_cast<void*>(data)); }

// The job's store, with the interface that gloo wants.
class Store : public gloo::rendezvous::Store {
 public:
  explicit Store(const World& world) : world_(world) {}
  void set(const std::string& key, const std::vector<char>& value) override { world_.set("gloo/" + key, value); }
  std::vector<char> get(const std::string& key) override { return world_.get("gloo/" + key); }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  const World& world_;
};

// gloo before 2024 borrows the store, later it shares it.
template <class Context, class Device>
void connect(Context& context, const std::shared_ptr<Store>& store, Device& device) {
  if constexpr (requires { context.connectFullMesh(store, device); })
    context.connectFullMesh(store, device);
  else
    context.connectFullMesh(*store, device);
}

// gloo can wait for a message but not test it, so a thread of its own waits for each.
class GlooRequest : public Request {
 public:
  GlooRequest(std::unique_ptr<Buffer> buffer, std::function<void(Buffer&)> wait)
      : buffer_(std::move(buffer)), ended_(std::async(std::launch::async, [this, wait] { wait(*buffer_); })) {}
  bool done() override {
    if (ended_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    ended_.get();
    return true;
  }

 private:
  std::unique_ptr<Buffer> buffer_;
  std::future<void> ended_;
};

// The timeout of operations: the job decides when the time is out (run, World::given_up), and gloo's own clock would
// count time in which the job is suspended.
constexpr std::chrono::hours kForever(24 * 365);

class GlooBackend : public Backend {
 public:
  explicit GlooBackend(const World& world) : Backend(world) {
    // gloo writes to the sockets of processes that may be gone. Without this the write would end this process.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    if (before != SIG_DFL) std::signal(SIGPIPE, before);
    auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(world_.address.c_str()));
    auto context = std::make_shared<gloo::rendezvous::Context>(world_.rank, world_.size);
    context->setTimeout(world_.timeout);
    connect(*context, std::make_shared<Store>(world_), device);
    context->setTimeout(kForever);
    context_ = context;
  }

  void all_reduce(void* data, std::size_t count, Type type, Op op) override {
    gloo::AllreduceOptions options(context_);
    with_type(data, type, op, [&](auto* values, Reduction* reduction) {
      options.setOutput(values, count);
      options.setReduceFunction(reduction);
    });
    run([&] { gloo::allreduce(options); });
  }

  void reduce(void* data, std::size_t count, Type type, Op op, int root) override {
    // gloo writes into the output of every rank, but only the root's may change.
    std::vector<char> apart;
    if (world_.rank != root) {
      apart.assign(bytes_at(data), bytes_at(data) + count * bytes_of(type));
      data = apart.data();
    }
    gloo::ReduceOptions options(context_);
    with_type(data, type, op, [&](auto* values, Reduction* reduction) {
      options.setOutput(values, count);
      options.setReduceFunction(reduction);
    });
    options.setRoot(root);
    run([&] { gloo::reduce(options); });
  }

  // gloo has no reduce_scatter: each rank receives its part from all others and combines them in the order of ranks.
  void reduce_scatter(const void* whole, void* part, std::size_t count, Type type, Op op) override {
    const std::size_t bytes = count * bytes_of(type);
    std::vector<char> parts(bytes * world_.size);
    all_to_all(whole, parts.data(), bytes);
    std::memcpy(part, parts.data(), bytes);
    with_type(part, type, op, [&](auto*, Reduction* reduction) {
      for (int r = 1; r < world_.size; ++r) reduction(part, part, parts.data() + r * bytes, count);
    });
  }

  void broadcast(void* data, std::size_t bytes, int root) override {
    gloo::BroadcastOptions options(context_);
    options.setOutput(bytes_at(data), bytes);
    options.setRoot(root);
    run([&] { gloo::broadcast(options); });
  }

  void all_gather(const void* part, void* whole, std::size_t bytes) override {
    gloo::AllgatherOptions options(context_);
    if (part != place(whole, bytes)) options.setInput(bytes_at(part), bytes);
    options.setOutput(bytes_at(whole), bytes * world_.size);
    run([&] { gloo::allgather(options); });
  }

  void gather(const void* part, void* whole, std::size_t bytes, int root) override {
    gloo::GatherOptions options(context_);
    const std::vector<char> apart = copy_in_place(part, whole, bytes, root);
    options.setInput(bytes_at(apart.empty() ? part : apart.data()), bytes);
    if (world_.rank == root) options.setOutput(bytes_at(whole), bytes * world_.size);
    options.setRoot(root);
    run([&] { gloo::gather(options); });
  }

  void scatter(const void* whole, void* part, std::size_t bytes, int root) override {
    gloo::ScatterOptions options(context_);
    if (world_.rank == root) {
      std::vector<char*> parts(world_.size);
      for (int r = 0; r < world_.size; ++r) parts[r] = bytes_at(whole) + r * bytes;
      options.setInputs(parts, bytes);
    }
    std::vector<char> apart = copy_in_place(part, whole, bytes, root);
    options.setOutput(apart.empty() ? bytes_at(part) : apart.data(), bytes);
    options.setRoot(root);
    run([&] { gloo::scatter(options); });
  }

  void all_to_all(const void* in, void* out, std::size_t bytes) override {
    gloo::AlltoallOptions options(context_);
    options.setInput(bytes_at(in), bytes * world_.size);
    options.setOutput(bytes_at(out), bytes * world_.size);
    run([&] { gloo::alltoall(options); });
  }

  void barrier() override {
    gloo::BarrierOptions options(context_);
    run([&] { gloo::barrier(options); });
  }

  std::unique_ptr<Request> send(const void* data, std::size_t bytes, int to, int tag) override {
    auto buffer = context_->createUnboundBuffer(bytes_at(data), bytes);
    buffer->send(to, static_cast<std::uint64_t>(tag));
    return std::make_unique<GlooRequest>(std::move(buffer), [](Buffer& sent) { sent.waitSend(kForever); });
  }

  std::unique_ptr<Request> recv(void* data, std::size_t bytes, int from, int tag) override {
    auto buffer = context_->createUnboundBuffer(data, bytes);
    buffer->recv(from, static_cast<std::uint64_t>(tag));
    return std::make_unique<GlooRequest>(std::move(buffer), [](Buffer& received) { received.waitRecv(kForever); });
  }

  void leave() override {
    barrier();
    context_->closeConnections();
  }

 private:
  // A copy of the root's part if that lies within `whole`: gloo would copy it onto itself.
  std::vector<char> copy_in_place(const void* part, const void* whole, std::size_t bytes, int root) const {
    if (world_.rank != root || part != place(whole, bytes)) return {};
    return std::vector<char>(bytes_at(part), bytes_at(part) + bytes);
  }

  void run(const std::function<void()>& operation) {
    constexpr std::chrono::milliseconds kAsk(20);
    std::future<void> ended = helper_.start(operation);
    while (ended.wait_for(kAsk) != std::future_status::ready) {
      if (!world_.given_up()) continue;
      break_off();
      ended.wait();
      throw std::runtime_error("given up while waiting for other ranks");
    }
    ended.get();
  }

  // Ends the operation under way: a wait that times out closes every connection of a gloo context.
  void break_off() {
    char nothing = 0;
    try {
      context_->createUnboundBuffer(&nothing, 1)->waitRecv(std::chrono::milliseconds(1));
    } catch (const gloo::IoException&) {
    }
  }

  std::shared_ptr<gloo::Context> context_;
  Helper helper_;
};

std::string version() {
  return "gloo " + std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) + "." +
         std::to_string(GLOO_VERSION_PATCH);
}

}  // namespace
}  // namespace hearth::plugins

HEARTH_EXPORT const HearthCommPlugin* hearth_comm_plugin() {
  using namespace hearth::plugins;
  return plugin_of<GlooBackend>(
      {.name = "gloo", .library = version(), .preference = 1, .overlaps_without_threads = true});
}
