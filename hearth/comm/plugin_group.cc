#include "hearth/comm/plugin_group.h"

#include <exception>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/comm/operation_queue.h"
#include "hearth/comm/reduction.h"

namespace hearth::comm {

PluginGroup::PluginGroup(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
                         const PluginGroupOptions& options)
    : plugin_(plugin),
      world_(world),
      queue_(std::make_shared<OperationQueue>(plugin, world, std::move(store), options)) {
  thread_ = std::thread([queue = queue_] { queue->run(); });
  try {
    queue_->wait_until_joined();
  } catch (...) {
    queue_->close(false) ? thread_.join() : thread_.detach();
    throw;
  }
}

PluginGroup::~PluginGroup() { queue_->close(std::uncaught_exceptions() == 0) ? thread_.join() : thread_.detach(); }

void PluginGroup::check_rank(const char* operation, int rank) const {
  check(rank >= 0 && rank < size(), "[comm] {}: there is no rank {} in a group of {}", operation, rank, size());
}

WorkPtr PluginGroup::all_reduce(void* data, std::size_t count, DType type, ReduceOp op) {
  return queue_->add("all_reduce", [=](PluginHandle& handle) { comm::all_reduce(handle, data, count, type, op); });
}

WorkPtr PluginGroup::reduce(void* data, std::size_t count, DType type, ReduceOp op, int root) {
  check_rank("reduce", root);
  return queue_->add("reduce", [=](PluginHandle& handle) { comm::reduce(handle, data, count, type, op, root); });
}

WorkPtr PluginGroup::broadcast(void* data, std::size_t count, DType type, int root) {
  check_rank("broadcast", root);
  return queue_->add("broadcast", [=](PluginHandle& handle) {
    handle.call(&HearthCommPlugin::broadcast, data, count * size_of(type), root);
  });
}

WorkPtr PluginGroup::all_gather(const void* part, void* whole, std::size_t count, DType type) {
  return queue_->add("all_gather", [=](PluginHandle& handle) {
    handle.call(&HearthCommPlugin::all_gather, part, whole, count * size_of(type));
  });
}

WorkPtr PluginGroup::gather(const void* part, void* whole, std::size_t count, DType type, int root) {
  check_rank("gather", root);
  return queue_->add("gather", [=](PluginHandle& handle) {
    handle.call(&HearthCommPlugin::gather, part, whole, count * size_of(type), root);
  });
}

WorkPtr PluginGroup::scatter(const void* whole, void* part, std::size_t count, DType type, int root) {
  check_rank("scatter", root);
  return queue_->add("scatter", [=](PluginHandle& handle) {
    handle.call(&HearthCommPlugin::scatter, whole, part, count * size_of(type), root);
  });
}

WorkPtr PluginGroup::reduce_scatter(const void* whole, void* part, std::size_t count, DType type, ReduceOp op) {
  return queue_->add("reduce_scatter",
                     [=](PluginHandle& handle) { comm::reduce_scatter(handle, whole, part, count, type, op); });
}

WorkPtr PluginGroup::all_to_all(const void* in, void* out, std::size_t count, DType type) {
  return queue_->add("all_to_all", [=](PluginHandle& handle) {
    handle.call(&HearthCommPlugin::all_to_all, in, out, count * size_of(type));
  });
}

WorkPtr PluginGroup::send(const void* data, std::size_t count, DType type, int to, int tag) {
  check_rank("send", to);
  return queue_->add_message("send", [=](PluginHandle& handle) {
    void* request = nullptr;
    handle.call(&HearthCommPlugin::send, data, count * size_of(type), to, tag, &request);
    return request;
  });
}

WorkPtr PluginGroup::recv(void* data, std::size_t count, DType type, int from, int tag) {
  check_rank("recv", from);
  return queue_->add_message("recv", [=](PluginHandle& handle) {
    void* request = nullptr;
    handle.call(&HearthCommPlugin::recv, data, count * size_of(type), from, tag, &request);
    return request;
  });
}

WorkPtr PluginGroup::barrier() {
  return queue_->add("barrier", [](PluginHandle& handle) { handle.call(&HearthCommPlugin::barrier); });
}

std::shared_ptr<std::byte> PluginGroup::share(std::size_t bytes) {
  if (!shares_memory()) return nullptr;
  const auto memory = std::make_shared<void*>(nullptr);  // outlives a call that never returns
  queue_->add("share", [=](PluginHandle& handle) { handle.call(&HearthCommPlugin::share, bytes, memory.get()); })
      ->wait();
  return {static_cast<std::byte*>(*memory),
          [unshare = plugin_.unshare, bytes](std::byte* shared) { unshare(shared, bytes); }};
}

void PluginGroup::report_failure(const std::string& sentence) { queue_->report_failure(sentence); }

}  // namespace hearth::comm
