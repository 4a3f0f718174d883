#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/base/api.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/shared_arenas.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// Embeddings so large that sending only their used rows pays off, in arena order. Each gets a bucket of its own.
HEARTH_API std::vector<Parameter*> large_tables(const ParameterStore& parameters);

// Sums gradients over the team (all-reduce, or reduce-scatter if sharded), bucket by bucket while backward runs.
// Gradients complete from the arena's beginning to its end; a bucket is sent as soon as it and all buckets before it
// are complete, so every rank sends them in the same order. A team without Team::overlaps() sends them after backward.
// For large embeddings only the rows used by at least one rank are all-reduced. The ranks agree on that set (max
// all-reduce of a row mask) before backward, because the embedding gradient completes last and nothing is left to
// overlap with. Ranks that share their arenas send nothing: after backward each reads its part of all gradients.
class HEARTH_API GradientReducer {
 public:
  // `wire`: the dtype that gradients are sent in, f32 or bf16. `tables`: embeddings that are a bucket each.
  GradientReducer(ParameterStore& parameters, Team team, const Partition& partition, DType wire,
                  const std::vector<Parameter*>& tables = {}, const SharedArenas* shared = nullptr);

  // The backward pass of a step's last micro-batch. Gradients without a contribution in this step become zero.
  void backward(Tape& tape, const Var& loss, float loss_grad);
  // Sends the remaining buckets and waits for all. Afterwards the gradients that this rank owns are sums over the
  // ranks; the rest of the arena is undefined.
  void finish();

  std::size_t launched() const { return next_; }  // buckets sent, or summed in shared memory, in this step
  std::size_t launched_bytes() const { return sent_bytes_; }

 private:
  struct Sending {
    optim::Interval bucket;
    Tensor sent, received;       // undefined if the arena itself is sent and received into
    Parameter* table = nullptr;  // an embedding: `sent` holds only its `rows`
    std::vector<std::int32_t> rows;
    comm::WorkPtr work;
  };
  struct Table {
    Parameter* parameter;
    std::vector<std::uint8_t> used;  // per row: 1 if any rank uses it, once `agreeing` is done
    comm::WorkPtr agreeing;          // the all-reduce of `used`
  };

  void begin(Tape& tape);
  void ready(Parameter& parameter);
  void complete(Parameter& parameter);
  void add_pending(const Parameter& parameter, int count);
  void launch_complete();
  void agree_on_rows(Tape& tape);
  void launch(const optim::Interval& bucket);
  const Table* table_of(const optim::Interval& bucket) const;
  bool sends_rows(const Table& table) const;
  void launch_rows(const Table& table, const optim::Interval& bucket);
  void take_over_first();
  bool overlaps() const { return team_.overlaps() && shared_ == nullptr; }
  void sum_shared();
  static bool has_unused_rows(const Table& table);
  std::vector<optim::Interval> used_of_part(int rank) const;

  ParameterStore& parameters_;
  Team team_;
  const Partition& partition_;
  DType wire_;
  const SharedArenas* shared_;
  std::vector<Table> tables_;
  std::vector<int> pending_;  // per bucket: parameters whose gradient is not complete yet
  std::size_t next_ = 0;      // the next bucket to send
  std::size_t sent_bytes_ = 0;
  std::deque<Sending> under_way_;
};

}  // namespace hearth::parallel
