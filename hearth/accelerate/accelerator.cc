#include "hearth/accelerate/accelerator.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "hearth/accelerate/accelerator_state.h"
#include "hearth/accelerate/process_group.h"
#include "hearth/base/check.h"
#include "hearth/base/environment.h"

namespace hearth {
namespace {

DType compute_dtype(const std::optional<std::string>& given) {
  const std::string name = given ? *given : environment("ACCELERATE_MIXED_PRECISION");
  if (name.empty() || name == "no") return DType::f32;
  if (name == "bf16") return DType::bf16;
  check(name == "fp16", "{} is '{}', but Hearth trains in no (fp32), fp16 or bf16: choose one of these",
        given ? "mixed_precision" : "ACCELERATE_MIXED_PRECISION", name);
  return DType::f16;
}

}  // namespace

Accelerator::Accelerator(const AcceleratorOptions& options)
    : Accelerator(options, init_process_group({.backend = options.backend})) {}

Accelerator::Accelerator(const AcceleratorOptions& options, parallel::Team team)
    : state_(std::make_shared<AcceleratorState>()) {
  check(options.gradient_accumulation_steps > 0, "[Accelerator] gradient_accumulation_steps must be at least 1, got {}",
        options.gradient_accumulation_steps);
  state_->team = std::move(team);
  state_->compute = compute_dtype(options.mixed_precision);
  state_->accumulation_steps = options.gradient_accumulation_steps;
  state_->seed = options.seed;
  state_->scaler = optim::LossScaler(state_->compute == DType::f16);
}

// The other ranks would otherwise wait for this one until they see that it has gone.
Accelerator::~Accelerator() {
  if (std::uncaught_exceptions() > 0 && num_processes() > 1)
    team().group().report_failure(fmt::format("rank {} ended with an exception", process_index()));
}

const parallel::Team& Accelerator::team() const { return state_->team; }

bool Accelerator::sync_gradients() const { return state_->sync_gradients; }

PreparedModel Accelerator::prepare(std::shared_ptr<nn::Model> model) {
  check(model != nullptr, "[Accelerator::prepare] there is no model: the pointer is null");
  state_->models.push_back(std::make_shared<ModelState>(std::move(model), *state_));
  state_->models.back()->ddp.broadcast_weights();
  return PreparedModel(std::shared_ptr<ModelState>(state_, state_->models.back().get()));
}

PreparedOptimizer Accelerator::prepare(std::shared_ptr<optim::Optimizer> optimizer) {
  check(optimizer != nullptr, "[Accelerator::prepare] there is no optimizer: the pointer is null");
  const auto updates = [&](const auto& prepared) { return &prepared->model->parameters() == &optimizer->parameters(); };
  check(std::ranges::any_of(state_->models, updates),
        "[Accelerator::prepare] the optimizer updates a model that is not prepared: prepare the model before it");
  return {std::move(optimizer), state_};
}

DataLoader Accelerator::prepare(const DataLoader& loader) {
  DataLoaderOptions options = loader.options();
  options.rank = process_index();
  options.world = num_processes();
  return {loader.dataset(), options, state_->position};
}

PreparedScheduler Accelerator::prepare(const optim::LrScheduler& schedule) { return {schedule, state_}; }

void Accelerator::backward(const Var& loss) {
  const Tape& tape = loss.require_tape();
  const auto made = [&](const auto& prepared) { return prepared->tape.get() == &tape; };
  const auto model = std::ranges::find_if(state_->models, made);
  check(model != state_->models.end(),
        "[Accelerator::backward] no model that this Accelerator prepared made the loss in its last pass");
  const float loss_grad = state_->scaler.scale() / static_cast<float>(state_->accumulation_steps);
  const bool last_batch = state_->position->iterating && state_->position->at_end;
  state_->sync_gradients = ++state_->micro_batches == state_->accumulation_steps || last_batch;
  if (!state_->sync_gradients) return (*model)->ddp.backward_without_sync(loss, loss_grad);
  state_->micro_batches = 0;
  (*model)->ddp.backward(loss, loss_grad);
}

// The ranks may have different numbers of bytes; all send as many as the longest.
std::vector<std::byte> Accelerator::gather_bytes(std::span<const std::byte> bytes) const {
  comm::ProcessGroup& group = team().group();
  const auto ranks = static_cast<std::size_t>(num_processes());
  const auto mine = static_cast<std::int64_t>(bytes.size());
  std::vector<std::int64_t> sizes(ranks);
  group.all_gather(&mine, sizes.data(), 1, DType::i64)->wait();
  const auto longest = static_cast<std::size_t>(std::ranges::max(sizes));
  std::vector<std::byte> part(longest), whole(longest * ranks), result;
  std::ranges::copy(bytes, part.begin());
  group.all_gather(part.data(), whole.data(), longest, DType::u8)->wait();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(rank * longest);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(sizes[rank]));
  }
  return result;
}

std::size_t Accelerator::values_of_round(std::size_t gathered) const {
  const LoaderPosition& position = *state_->position;
  if (!position.iterating) return gathered;
  const auto rows = static_cast<std::size_t>(position.rows);
  check(gathered % rows == 0,
        "[gather_for_metrics] {} values for {} items: give the same number of values for each item", gathered, rows);
  return gathered / rows * static_cast<std::size_t>(position.items);
}

void Accelerator::print(const std::string& line) const {
  if (!is_main_process()) return;
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace hearth
