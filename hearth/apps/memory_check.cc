#include "hearth/apps/memory_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/environment.h"
#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/cpu/memory_room.h"
#include "hearth/cpu/parallel.h"
#include "hearth/models/memory_estimate.h"
#include "hearth/optim/optimizers.h"
#include "hearth/parallel/sharded_optimizer.h"
#include "hearth/train/batch_size.h"
#include "hearth/train/training_plan.h"

namespace hearth::apps {
namespace {

constexpr double kCertain = 1.15;  // an estimate may be a tenth too high

std::string gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / (1 << 30)); }

// The memory of a run, by the batch size and some of its settings.
class Run {
 public:
  Run(const models::Pretrained& model, const TrainingArguments& args, const Dataset& data, const parallel::Team& team)
      : model_(model),
        args_(args),
        data_(data),
        ranks_(team.size()),
        shards_by_itself_(parallel::shards_by_itself(team, args.optim, args.ddp_wire_dtype)),
        items_(by_length(data)) {}

  enum class Items { longest, typical };  // typical: every length as often as in the data
  models::MemoryEstimate estimate(std::int64_t batch, Items kind) const { return estimate(args_, batch, kind); }

  // Memory that is not taken yet: the program itself is running.
  static double needed(const models::MemoryEstimate& estimate) { return estimate.total() - estimate.program; }

  // The largest of `batch`, its half, and so on, that fits; 0 if not even one item does.
  std::int64_t largest_batch(std::int64_t batch, double room) const {
    while (batch > 0 && needed(estimate(batch, Items::longest)) > room) batch /= 2;
    return batch;
  }

  // Settings each of which would make the longest batches fit, or else those that help.
  std::string ways_out(double room) const {
    const std::int64_t batch = args_.per_device_train_batch_size;
    std::vector<std::string> fitting, all;
    const auto offer = [&](const char* flag, bool is_free, auto TrainingArguments::*setting, const auto& value) {
      if (!is_free) return;
      TrainingArguments changed = args_;
      changed.*setting = value;
      all.emplace_back(flag);
      if (needed(estimate(changed, batch, Items::longest)) <= room) fitting.emplace_back(flag);
    };
    if (const std::int64_t smaller = largest_batch(batch, room); smaller > 0)
      fitting.push_back(fmt::format("--per_device_train_batch_size {} (--auto_find_batch_size chooses it)", smaller));
    offer("--gradient_checkpointing", !args_.gradient_checkpointing, &TrainingArguments::gradient_checkpointing, true);
    offer("--bf16", args_.train_dtype() == DType::f32, &TrainingArguments::bf16, true);
    offer("--sharded_optimizer", ranks_ > 1 && !is_sharded(args_) && optim::can_shard(args_.optim),
          &TrainingArguments::sharded_optimizer, true);
    offer("--optim adamw_16bit", args_.optim.starts_with("adamw") && args_.optim != "adamw_16bit",
          &TrainingArguments::optim, "adamw_16bit");
    if (!fitting.empty()) return fmt::format("any of these would fit: {}", fmt::join(fitting, ", "));
    all.insert(all.end(), {"--optim adafactor", "--freeze_layers", "a smaller model"});
    return fmt::format("these need less: smaller batches, shorter sequences, {}", fmt::join(all, ", "));
  }

 private:
  models::MemoryEstimate estimate(const TrainingArguments& args, std::int64_t batch, Items kind) const {
    const BatchPtr items = batch_of(std::min(batch, data_.size()), kind);
    models::MemoryPlan plan;
    plan.tokens = model_.tokens_at_once(*items);
    plan.longest = data_.length(items_.front());
    plan.dtype = args.train_dtype();
    plan.gradient_checkpointing = args.gradient_checkpointing;
    plan.moment_bytes = optim::moment_bytes_per_weight(optimizer_options(args));
    plan.shards = is_sharded(args) ? ranks_ : 1;
    plan.threads = cpu::num_threads();
    return models::estimate_memory(model_, plan);
  }

  BatchPtr batch_of(std::int64_t count, Items kind) const {
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < count; ++i)
      chosen.push_back(items_[static_cast<std::size_t>(kind == Items::longest ? i : i * data_.size() / count)]);
    return data_.collate(chosen, 0);
  }

  bool is_sharded(const TrainingArguments& args) const { return args.sharded_optimizer || shards_by_itself_; }

  const models::Pretrained& model_;
  const TrainingArguments& args_;
  const Dataset& data_;
  std::int64_t ranks_;
  bool shards_by_itself_;
  std::vector<std::int64_t> items_;  // longest first
};

std::string described(const models::MemoryEstimate& estimate) {
  return fmt::format("{} (weights {}, gradients {}, optimizer state {}, activations {})", gib(Run::needed(estimate)),
                     gib(estimate.weights + estimate.copies), gib(estimate.gradients), gib(estimate.optimizer),
                     gib(estimate.activations));
}

}  // namespace

std::int64_t check_memory(const models::Pretrained& model, const TrainingArguments& args, const Dataset& data,
                          const parallel::Team& team, int processes_of_host) {
  const cpu::MemoryRoom own = cpu::memory_room(processes_of_host);
  const double room = team.smallest(static_cast<double>(own.bytes));  // no rank takes memory before all have measured
  const std::string available = fmt::format("{} may be taken by each process (the limit of {})", gib(room),
                                            room < static_cast<double>(own.bytes) ? "another rank" : own.bound);
  const Run run(model, args, data, team);
  std::int64_t batch = args.per_device_train_batch_size;
  if (args.auto_find_batch_size) {
    batch = std::max<std::int64_t>(1, run.largest_batch(batch, room));
    if (batch < args.per_device_train_batch_size)
      log_info("--auto_find_batch_size: a batch size of {} per process instead of {}, because {}", batch,
               args.per_device_train_batch_size, available);
  }
  const models::MemoryEstimate typical = run.estimate(batch, Run::Items::typical);
  const models::MemoryEstimate longest = run.estimate(batch, Run::Items::longest);
  if (Run::needed(typical) > kCertain * room && environment("HEARTH_MEMORY_CHECK") != "0")
    throw ResourceError(fmt::format(
        "training will not fit into memory: it needs about {}, but only {}; {}; HEARTH_MEMORY_CHECK=0 starts it anyway",
        described(typical), available, run.ways_out(room)));
  if (Run::needed(longest) > room && team.is_first())
    log_warning("training may not fit into memory: its longest batches need about {}, and {}; {}", described(longest),
                available, run.ways_out(room));
  return static_cast<std::int64_t>(team.smallest(static_cast<double>(batch)));
}

}  // namespace hearth::apps
