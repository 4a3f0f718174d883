#pragma once

#include <memory>
#include <string_view>
#include <thread>

#include "hearth/comm/engine_options.h"
#include "hearth/comm/plugin.h"
#include "hearth/comm/process_group.h"
#include "hearth/comm/store.h"
#include "hearth/comm/world.h"

namespace hearth::comm {

class OperationQueue;

// A group over an engine. One thread of its own joins it and calls it; operations wait for that thread in a queue.
// Sends and receives that follow one another run together, everything else alone. After a failure every operation
// fails at once with the same message.
class EngineGroup final : public ProcessGroup {
 public:
  // Returns once the engine has joined the others. `plugin` outlives the process; no store: nobody else is watched.
  EngineGroup(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
              const EngineOptions& options);
  // Ends what was started and leaves in order; where that failed, or an exception is unwinding the stack, it leaves
  // the engine as it is.
  ~EngineGroup() override;

  int rank() const override { return world_.rank; }
  int size() const override { return world_.size; }
  std::string_view backend() const override { return plugin_.name; }

  WorkPtr all_reduce(void* data, std::size_t count, DType type, ReduceOp op) override;
  WorkPtr reduce(void* data, std::size_t count, DType type, ReduceOp op, int root) override;
  WorkPtr broadcast(void* data, std::size_t count, DType type, int root) override;
  WorkPtr all_gather(const void* part, void* whole, std::size_t count, DType type) override;
  WorkPtr gather(const void* part, void* whole, std::size_t count, DType type, int root) override;
  WorkPtr scatter(const void* whole, void* part, std::size_t count, DType type, int root) override;
  WorkPtr reduce_scatter(const void* whole, void* part, std::size_t count, DType type, ReduceOp op) override;
  WorkPtr all_to_all(const void* in, void* out, std::size_t count, DType type) override;
  WorkPtr send(const void* data, std::size_t count, DType type, int to, int tag) override;
  WorkPtr recv(void* data, std::size_t count, DType type, int from, int tag) override;
  WorkPtr barrier() override;

 private:
  void check_rank(const char* operation, int rank) const;

  const HearthCommPlugin& plugin_;
  const World world_;
  std::shared_ptr<OperationQueue> queue_;
  std::thread thread_;
};

}  // namespace hearth::comm
