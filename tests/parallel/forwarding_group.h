// A group that hands everything on to another, for tests to change what they need.
#pragma once

#include "hearth/comm/process_group.h"

namespace hearth::comm {

class ForwardingGroup : public ProcessGroup {
 public:
  explicit ForwardingGroup(ProcessGroup& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string_view backend() const override { return inner_.backend(); }
  bool overlaps_without_threads() const override { return inner_.overlaps_without_threads(); }
  WorkPtr all_reduce(void* data, std::size_t count, DType type, ReduceOp op) override {
    return inner_.all_reduce(data, count, type, op);
  }
  WorkPtr reduce(void* data, std::size_t count, DType type, ReduceOp op, int root) override {
    return inner_.reduce(data, count, type, op, root);
  }
  WorkPtr broadcast(void* data, std::size_t count, DType type, int root) override {
    return inner_.broadcast(data, count, type, root);
  }
  WorkPtr all_gather(const void* part, void* whole, std::size_t count, DType type) override {
    return inner_.all_gather(part, whole, count, type);
  }
  WorkPtr gather(const void* part, void* whole, std::size_t count, DType type, int root) override {
    return inner_.gather(part, whole, count, type, root);
  }
  WorkPtr scatter(const void* whole, void* part, std::size_t count, DType type, int root) override {
    return inner_.scatter(whole, part, count, type, root);
  }
  WorkPtr reduce_scatter(const void* whole, void* part, std::size_t count, DType type, ReduceOp op) override {
    return inner_.reduce_scatter(whole, part, count, type, op);
  }
  WorkPtr all_to_all(const void* in, void* out, std::size_t count, DType type) override {
    return inner_.all_to_all(in, out, count, type);
  }
  WorkPtr send(const void* data, std::size_t count, DType type, int to, int tag) override {
    return inner_.send(data, count, type, to, tag);
  }
  WorkPtr recv(void* data, std::size_t count, DType type, int from, int tag) override {
    return inner_.recv(data, count, type, from, tag);
  }
  WorkPtr barrier() override { return inner_.barrier(); }
  bool shares_memory() const override { return inner_.shares_memory(); }
  std::shared_ptr<std::byte> share(std::size_t bytes) override { return inner_.share(bytes); }
  void report_failure(const std::string& sentence) override { inner_.report_failure(sentence); }

 private:
  ProcessGroup& inner_;
};

}  // namespace hearth::comm
