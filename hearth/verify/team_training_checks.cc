#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/random.h"
#include "hearth/data/sampler.h"
#include "hearth/models/pretrained.h"
#include "hearth/train/training_step.h"
#include "hearth/verify/compare.h"
#include "hearth/verify/world_check.h"

namespace hearth::verify {
namespace {

constexpr std::int64_t kVocabulary = 64, kLongest = 16, kSamplesPerRank = 4, kSteps = 6;
constexpr std::uint64_t kSeed = 42;
constexpr const char* kOptimizer = "sgd";

std::unique_ptr<models::Pretrained> tiny_model() {
  return models::build_model({{{"model_type", "bert"},
                               {"vocab_size", kVocabulary},
                               {"hidden_size", 32},
                               {"num_hidden_layers", 2},
                               {"num_attention_heads", 2},
                               {"intermediate_size", 64},
                               {"max_position_embeddings", kLongest},
                               {"type_vocab_size", 2}},
                              "a tiny model"},
                             models::HeadKind::question_answering, kSeed);
}

void append_sample(Batch& batch, std::int64_t item, std::uint32_t number) {
  const auto draw = [&](std::int64_t at) {
    return philox({static_cast<std::uint32_t>(at)}, philox_key(kSeed, static_cast<std::uint64_t>(item), 0))[0];
  };
  const std::int64_t length = kLongest / 2 + draw(kLongest) % (kLongest / 2);
  std::vector<std::int32_t> ids, types(static_cast<std::size_t>(length), 0);
  for (std::int64_t at = 0; at < length; ++at)
    ids.push_back(static_cast<std::int32_t>(1 + draw(at) % (kVocabulary - 1)));
  batch.append(ids, types, number);
  batch.labels["start_positions"].push_back(std::ranges::min_element(ids) - ids.begin());
  batch.labels["end_positions"].push_back(std::ranges::max_element(ids) - ids.begin());
}

struct Trained {
  std::vector<double> losses;
  std::vector<float> weights;
};

Trained train(const parallel::Team& team, std::int64_t samples_per_step, DType format, bool sharded) {
  const auto model = tiny_model();
  parallel::DataParallelOptions distribution;
  distribution.partition.sharded = sharded || parallel::shards_by_itself(team, kOptimizer, distribution.wire);
  distribution.partition.first_bucket_bytes = 1 << 10;
  distribution.partition.bucket_bytes = 1 << 14;
  parallel::DistributedDataParallel ddp(model->parameters(), team, distribution);
  parallel::ShardedOptimizer optimizer({.name = kOptimizer}, ddp);
  optim::LossScaler scaler(false);
  const std::int64_t batch_size = samples_per_step / team.size();
  const data::RankBatches batches(data::shuffled_order(kSteps * samples_per_step, kSeed, 0),
                                  {batch_size, false, team.size(), team.rank()});
  Trained trained;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    Batch batch;
    auto sample = static_cast<std::uint32_t>(team.rank() * batch_size);
    for (const std::int64_t item : batches[step]) append_sample(batch, item, sample++);
    const BatchPtr shared = shared_batch(std::move(batch));
    const StepResult result = training_step(*model, ddp, optimizer, scaler, std::span(&shared, 1),
                                            static_cast<std::uint64_t>(step), 0.1, {.compute = format, .seed = kSeed});
    trained.losses.push_back(result.loss);
  }
  const Tensor& weights = model->parameters().master();
  trained.weights.assign(weights.data<float>(), weights.data<float>() + weights.size());
  return trained;
}

CheckResult compare(const parallel::Team& team, DType format, bool sharded, double loss_tolerance, double tolerance) {
  const std::int64_t samples = kSamplesPerRank * team.size();
  const Trained one = train({}, samples, format, false), all = train(team, samples, format, sharded);
  LargestError loss_error;
  for (std::size_t step = 0; step < one.losses.size(); ++step)
    loss_error.take(std::abs(one.losses[step] - all.losses[step]));
  const double error = largest_difference(all.weights, one.weights);
  const std::string detail =
      fmt::format("{} ranks against 1: losses within {:.1e}, weights within {:.1e} after {} steps", team.size(),
                  loss_error.value(), error, kSteps);
  const bool agree = loss_error.value() <= loss_tolerance && error <= tolerance;
  return agree ? CheckResult{{}, detail}
               : CheckResult{fmt::format("{}; {:.0e} and {:.0e} are allowed", detail, loss_tolerance, tolerance), {}};
}

}  // namespace

std::vector<WorldCheck> team_training_checks() {
  return {
      {"training in fp32", [](const parallel::Team& team) { return compare(team, DType::f32, false, 1e-4, 1e-5); }},
      {"training in bf16", [](const parallel::Team& team) { return compare(team, DType::bf16, false, 2e-2, 1e-2); }},
      {"training with a sharded optimizer",
       [](const parallel::Team& team) { return compare(team, DType::f32, true, 1e-4, 1e-5); }}};
}

}  // namespace hearth::verify
