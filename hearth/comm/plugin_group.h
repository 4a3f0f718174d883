#pragma once

#include <memory>
#include <string_view>
#include <thread>

#include "hearth/comm/plugin.h"
#include "hearth/comm/plugin_group_options.h"
#include "hearth/comm/process_group.h"
#include "hearth/comm/store.h"
#include "hearth/comm/world.h"

namespace hearth::comm {

class OperationQueue;

// A process group over a plug-in. Its communication thread joins the other ranks and makes all calls of the plug-in;
// operations wait for it in a queue. Consecutive sends and receives run concurrently, all other operations one by one.
// After a failure every operation fails at once with the same message.
class PluginGroup final : public ProcessGroup {
 public:
  // Returns once this rank has joined the others. `plugin` is never unloaded. Without a store no rank is monitored.
  PluginGroup(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
              const PluginGroupOptions& options);
  // Finishes the operations under way and leaves the group in order. After a failure, or while an exception unwinds the
  // stack, it abandons the plug-in instead.
  ~PluginGroup() override;

  int rank() const override { return world_.rank; }
  int size() const override { return world_.size; }
  std::string_view backend() const override { return plugin_.name; }
  bool overlaps_without_threads() const override { return plugin_.overlaps_without_threads != 0; }

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
  bool shares_memory() const override { return plugin_.share != nullptr; }
  std::shared_ptr<std::byte> share(std::size_t bytes) override;
  void report_failure(const std::string& sentence) override;

 private:
  void check_rank(const char* operation, int rank) const;

  const HearthCommPlugin& plugin_;
  const World world_;
  std::shared_ptr<OperationQueue> queue_;
  std::thread thread_;
};

}  // namespace hearth::comm
