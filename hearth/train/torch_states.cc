#include "hearth/train/torch_states.h"

#include <array>
#include <cstring>

#include "hearth/io/torch_file.h"

namespace hearth {
namespace {

using io::PickleValue;

PickleValue::List repeated(double value, std::size_t count) {
  return {std::vector<PickleValue>(count, PickleValue(value))};
}

// The state of a Mersenne twister (MT19937) that was just seeded.
constexpr std::size_t kWords = 624;
std::array<std::uint32_t, kWords> seeded_twister(std::uint32_t seed) {
  std::array<std::uint32_t, kWords> words{seed};
  for (std::uint32_t i = 1; i < kWords; ++i) words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
  return words;
}

// The bytes of torch.get_rng_state() after torch.manual_seed(): members of at::CPUGeneratorImpl.
Tensor torch_generator(std::uint32_t seed, const std::array<std::uint32_t, kWords>& words) {
  struct State {
    std::uint64_t seed;
    std::int32_t left = 1, is_seeded = 1;
    std::uint64_t next = 0;
    std::array<std::uint64_t, kWords> words{};
    std::array<double, 3> normals{};
    std::array<std::int32_t, 4> no_normals{};
  };
  static_assert(sizeof(State) == 5056);
  State state{seed};
  std::ranges::copy(words, state.words.begin());
  Tensor bytes({static_cast<std::int64_t>(sizeof state)}, DType::u8);
  std::memcpy(bytes.raw(), &state, sizeof state);
  return bytes;
}

}  // namespace

void write_torch_scheduler(const std::filesystem::path& file, const TorchScheduler& scheduler, std::size_t groups) {
  io::TorchWriter writer(file);
  const PickleValue last_lr = repeated(scheduler.lr, groups);
  if (scheduler.plateau == nullptr) {  // LambdaLR
    const PickleValue::Dict no_attributes;
    return writer.commit(PickleValue::Dict{
        {{"base_lrs", repeated(scheduler.initial_lr, groups)},
         {"last_epoch", scheduler.updates},
         {"_step_count", scheduler.updates + 1},
         {"_is_initial", false},
         {"_get_lr_called_within_step", false},
         {"_last_lr", last_lr},
         {"lr_lambdas", PickleValue::List{std::vector<PickleValue>(groups, PickleValue(no_attributes))}}}});
  }
  const optim::PlateauOptions& options = scheduler.plateau->options();
  const optim::Plateau::State& state = scheduler.plateau->state();
  const double worst = std::numeric_limits<double>::infinity();
  writer.commit(PickleValue::Dict{{{"factor", options.factor},
                                   {"default_min_lr", options.min_lr},
                                   {"min_lrs", repeated(options.min_lr, groups)},
                                   {"patience", options.patience},
                                   {"cooldown", options.cooldown},
                                   {"eps", options.eps},
                                   {"last_epoch", scheduler.updates},
                                   {"_last_lr", last_lr},
                                   {"mode", options.mode},
                                   {"threshold", options.threshold},
                                   {"threshold_mode", options.threshold_mode},
                                   {"mode_worse", options.mode == "min" ? worst : -worst},
                                   {"best", state.best},
                                   {"cooldown_counter", state.cooldown_left},
                                   {"num_bad_epochs", state.without_gain}}});
}

void write_torch_scaler(const std::filesystem::path& file, const CheckpointState::Scaler& scaler) {
  using optim::LossScaler;
  io::TorchWriter writer(file);
  writer.commit(PickleValue::Dict{{{"scale", double{scaler.scale}},
                                   {"growth_factor", double{LossScaler::kGrowth}},
                                   {"backoff_factor", double{LossScaler::kBackoff}},
                                   {"growth_interval", LossScaler::kGrowthInterval},
                                   {"_growth_tracker", scaler.good_steps},
                                   {"skipped", scaler.skipped}}});  // Hearth's own, which PyTorch does not look at
}

void write_torch_random_states(const std::filesystem::path& file, std::uint32_t seed) {
  const std::array<std::uint32_t, kWords> words = seeded_twister(seed);
  constexpr std::int64_t kPosition = kWords;
  PickleValue::List numbers;
  for (const std::uint32_t word : words) numbers.items.emplace_back(std::int64_t{word});
  PickleValue::Tuple of_python{numbers.items};
  of_python.items.emplace_back(kPosition);
  io::TorchWriter writer(file);
  writer.commit(PickleValue::Dict{
      {{"python", PickleValue::Tuple{{std::int64_t{3}, std::move(of_python), {}}}},
       {"numpy", PickleValue::Tuple{{"MT19937", std::move(numbers), kPosition, std::int64_t{0}, 0.0}}},
       {"cpu", writer.tensor(torch_generator(seed, words))}}});
}

}  // namespace hearth
