#include "hearth/comm/engine_group.h"

#include <exception>
#include <utility>

#include "hearth/comm/operation_queue.h"
#include "hearth/comm/reduction.h"

namespace hearth::comm {

EngineGroup::EngineGroup(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
                         const EngineOptions& options)
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

EngineGroup::~EngineGroup() { queue_->close(std::uncaught_exceptions() == 0) ? thread_.join() : thread_.detach(); }

void EngineGroup::check_rank(const char* operation, int rank) const {
  check(rank >= 0 && rank < size(), "[comm] {}: there is no rank {} in a group of {}", operation, rank, size());
}

WorkPtr EngineGroup::all_reduce(void* data, std::size_t count, DType type, ReduceOp op) {
  return queue_->add("all_reduce", [=](Engine& engine) { comm::all_reduce(engine, data, count, type, op); });
}

WorkPtr EngineGroup::reduce(void* data, std::size_t count, DType type, ReduceOp op, int root) {
  check_rank("reduce", root);
  return queue_->add("reduce", [=](Engine& engine) { comm::reduce(engine, data, count, type, op, root); });
}

WorkPtr EngineGroup::broadcast(void* data, std::size_t count, DType type, int root) {
  check_rank("broadcast", root);
  return queue_->add("broadcast", [=](Engine& engine) {
    engine.call(&HearthCommPlugin::broadcast, data, count * size_of(type), root);
  });
}

WorkPtr EngineGroup::all_gather(const void* part, void* whole, std::size_t count, DType type) {
  return queue_->add("all_gather", [=](Engine& engine) {
    engine.call(&HearthCommPlugin::all_gather, part, whole, count * size_of(type));
  });
}

WorkPtr EngineGroup::gather(const void* part, void* whole, std::size_t count, DType type, int root) {
  check_rank("gather", root);
  return queue_->add("gather", [=](Engine& engine) {
    engine.call(&HearthCommPlugin::gather, part, whole, count * size_of(type), root);
  });
}

WorkPtr EngineGroup::scatter(const void* whole, void* part, std::size_t count, DType type, int root) {
  check_rank("scatter", root);
  return queue_->add("scatter", [=](Engine& engine) {
    engine.call(&HearthCommPlugin::scatter, whole, part, count * size_of(type), root);
  });
}

WorkPtr EngineGroup::reduce_scatter(const void* whole, void* part, std::size_t count, DType type, ReduceOp op) {
  return queue_->add("reduce_scatter",
                     [=](Engine& engine) { comm::reduce_scatter(engine, whole, part, count, type, op); });
}

WorkPtr EngineGroup::all_to_all(const void* in, void* out, std::size_t count, DType type) {
  return queue_->add("all_to_all", [=](Engine& engine) {
    engine.call(&HearthCommPlugin::all_to_all, in, out, count * size_of(type));
  });
}

WorkPtr EngineGroup::send(const void* data, std::size_t count, DType type, int to, int tag) {
  check_rank("send", to);
  return queue_->add_message("send", [=](Engine& engine) {
    void* request = nullptr;
    engine.call(&HearthCommPlugin::send, data, count * size_of(type), to, tag, &request);
    return request;
  });
}

WorkPtr EngineGroup::recv(void* data, std::size_t count, DType type, int from, int tag) {
  check_rank("recv", from);
  return queue_->add_message("recv", [=](Engine& engine) {
    void* request = nullptr;
    engine.call(&HearthCommPlugin::recv, data, count * size_of(type), from, tag, &request);
    return request;
  });
}

WorkPtr EngineGroup::barrier() {
  return queue_->add("barrier", [](Engine& engine) { engine.call(&HearthCommPlugin::barrier); });
}

}  // namespace hearth::comm
