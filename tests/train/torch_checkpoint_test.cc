// Checkpoints in the format of PyTorch: those of the Trainer (tests/fixtures/torch/checkpoint) are read, and Hearth's
// own are read back.
#include "hearth/io/model_weights.h"
#include "hearth/io/torch_file.h"
#include "hearth/train/checkpoint_state.h"
#include "hearth/train/torch_optimizer.h"
#include "hearth/train/torch_states.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

std::filesystem::path trainer_checkpoint() { return fixture("torch") / "checkpoint"; }

// The parameters of Module in make_files.py: query and key are one, and the table comes first, as it is used first.
class FixtureModel final : public nn::Model {
 public:
  explicit FixtureModel(bool has_unused = true) {
    (root() / "table").parameter("weight", {3, 2}, nn::Init::zeros());
    root().stacked({"query", "key"}, "weight", {2, 2}, nn::Init::zeros());
    root().stacked({"query", "key"}, "bias", {2}, nn::Init::zeros());
    (root() / "norm").parameter("weight", {2}, nn::Init::ones(), true);
    (root() / "norm").parameter("bias", {2}, nn::Init::zeros(), true);
    if (has_unused) {
      (root() / "unused").parameter("weight", {1, 1}, nn::Init::zeros());
      (root() / "unused").parameter("bias", {1}, nn::Init::zeros());
    }
    initialise(1);
  }
  nn::ModelOutput forward(ops::Context&, const BatchPtr&) override { return {}; }
};

// PyTorch has the table after query and key: parameters of other shapes may be in another order.
TEST(TorchCheckpoint, MomentsOfTheTrainerGetTheirNames) {
  FixtureModel model;
  const TorchOptimizer read = read_torch_optimizer(trainer_checkpoint() / "optimizer.pt", model.parameters());
  const io::Json expected = io::read_json(trainer_checkpoint() / "moments.json");
  EXPECT_EQ(read.moments.size(), expected.size());
  for (const auto& [name, values] : expected.items()) {
    ASSERT_TRUE(read.moments.contains(name)) << name;
    const Tensor& moments = read.moments.find(name)->second;
    ASSERT_EQ(moments.size(), std::ssize(values)) << name;
    for (std::int64_t i = 0; i < moments.size(); ++i)
      EXPECT_EQ(moments.data<float>()[i], values[static_cast<std::size_t>(i)].get<float>()) << name;
  }
  EXPECT_EQ(read.without_moments, (std::set<std::string, std::less<>>{"unused.bias", "unused.weight"}));
}

TEST(TorchCheckpoint, StepScheduleAndLossScaleOfTheTrainerAreRead) {
  const auto folder = trainer_checkpoint();
  const CheckpointState state = CheckpointState::from_json(CheckpointState::read(folder), folder);
  EXPECT_EQ(state.trainer.global_step, 3);
  EXPECT_EQ(state.moments_file, "optimizer.pt");
  EXPECT_EQ(state.updates, 3);
  EXPECT_EQ(state.updates_of_moments, 3);
  ASSERT_TRUE(state.scaler.has_value());
  EXPECT_EQ(state.scaler->scale, 1024);
  EXPECT_EQ(state.scaler->good_steps, 3);
}

TEST(TorchCheckpoint, OfAnotherModelIsRefused) {
  FixtureModel model(false);
  const std::string message =
      error_of([&] { read_torch_optimizer(trainer_checkpoint() / "optimizer.pt", model.parameters()); });
  EXPECT_TRUE(contains(message, "has groups of 4, 5 parameters, this run of 3 with weight decay and 4 without"));
}

class OptimizerFile : public TemporaryFolder {
 protected:
  std::string error_with(const io::PickleValue& value) const {
    io::TorchWriter writer(folder_ / "optimizer.pt");
    writer.commit(value);
    FixtureModel model;
    return error_of([&] {
      torch_optimizer_steps(folder_ / "optimizer.pt");
      read_torch_optimizer(folder_ / "optimizer.pt", model.parameters());
    });
  }
};

TEST_F(OptimizerFile, EveryValueIsChecked) {
  using io::PickleValue;
  using Dict = PickleValue::Dict;
  const auto steps = [](PickleValue first, PickleValue second) {
    return Dict{{{"state", Dict{{{std::int64_t{0}, Dict{{{"step", std::move(first)}}}},
                                 {std::int64_t{1}, Dict{{{"step", std::move(second)}}}}}}}}};
  };
  EXPECT_TRUE(contains(error_with(true), "lacks \"state\""));
  EXPECT_TRUE(contains(error_with(Dict{{{"state", true}}}), "\"state\" must be a dict"));
  EXPECT_TRUE(contains(error_with(Dict{{{"state", Dict{}}}}), "lacks \"param_groups\""));
  EXPECT_TRUE(contains(error_with(steps("one", {})), "\"step\" must be a number"));
  EXPECT_TRUE(contains(error_with(steps(std::int64_t{3}, std::int64_t{2})), "have had 3 updates and others 2"));
  EXPECT_TRUE(contains(error_with(Dict{{{"state", Dict{}}, {"param_groups", true}}}), "must be a list"));
  EXPECT_TRUE(contains(error_with(Dict{{{"state", Dict{}}, {"param_groups", PickleValue::List{{Dict{}}}}}}),
                       "lacks \"params\""));
}

class SavedAsPyTorch : public TrainerTest, public testing::WithParamInterface<const char*> {};

// Every optimizer and schedule comes back from its files to the bit.
TEST_P(SavedAsPyTorch, ContinuesBitForBit) {
  TrainingArguments args = arguments();
  args.optim = GetParam();
  if (args.optim == "sgd" || args.optim == "rmsprop") args.optim_args = "momentum=0.5";
  args.weight_decay = 0.1;
  args.warmup_steps = 2;
  args.save_strategy = Strategy::steps;
  args.save_steps = 5;
  args.save_format = SaveFormat::pytorch;
  ToyModel whole(0.1f);
  ToyTrainer(whole, args, toy_dataset(24)).train();
  const std::filesystem::path checkpoint = folder_ / "out" / "checkpoint-5";
  for (const char* file : {"optimizer.pt", "scheduler.pt", "rng_state.pth", "model.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(checkpoint / file)) << file;
  EXPECT_FALSE(std::filesystem::exists(checkpoint / "optimizer.safetensors"));

  args.output_dir = (folder_ / "again").string();
  ToyModel resumed(0.1f, 99);
  ToyTrainer(resumed, args, toy_dataset(24)).train(checkpoint);
  EXPECT_EQ(resumed.weights(), whole.weights());
  EXPECT_EQ(io::read_file(folder_ / "again" / "checkpoint-10" / "optimizer.pt"),
            io::read_file(folder_ / "out" / "checkpoint-10" / "optimizer.pt"));
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(WithEveryOptimizer, SavedAsPyTorch,
                         testing::Values("adamw_torch", "adamw_16bit", "adamw_hf", "sgd", "adagrad", "rmsprop",
                                         "adafactor"));

TEST_F(TrainerTest, PyTorchModelBinHasTheWeights) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 5;
  args.save_format = SaveFormat::pytorch;
  ToyModel model;
  ToyTrainer(model, args, toy_dataset(24)).train();
  const std::filesystem::path checkpoint = folder_ / "out" / "checkpoint-5", alone = folder_ / "alone";
  std::filesystem::create_directory(alone);
  std::filesystem::copy_file(checkpoint / "pytorch_model.bin", alone / "pytorch_model.bin");
  const io::ModelWeights expected = io::ModelWeights::open(checkpoint), found = io::ModelWeights::open(alone);
  EXPECT_EQ(found.names(), expected.names());
  for (const std::string& name : expected.names()) {
    const Tensor a = found.tensor(name), b = expected.tensor(name);
    ASSERT_EQ(a.shape(), b.shape()) << name;
    EXPECT_TRUE(std::equal(a.data<float>(), a.data<float>() + a.size(), b.data<float>())) << name;
  }
}

TEST_F(TrainerTest, PyTorchHasNoPlaceForLion) {
  TrainingArguments args = arguments();
  args.optim = "lion_32bit";
  args.save_format = SaveFormat::pytorch;
  EXPECT_TRUE(contains(error_of([&] { args.validate(); }), "--save_format pytorch: PyTorch has no optimizer"));
}

TEST_F(TrainerTest, APlateauComesBackFromSchedulerPt) {
  optim::Plateau plateau({.mode = "max", .patience = 0}, 0.1);
  for (const double metric : {0.5, 0.4, 0.3}) plateau.take(metric);
  io::create_directories(folder_ / "checkpoint-4");
  std::filesystem::copy(trainer_checkpoint(), folder_ / "checkpoint-4", std::filesystem::copy_options::recursive);
  write_torch_scheduler(folder_ / "checkpoint-4" / "scheduler.pt", {0.1, plateau.lr(), 3, &plateau}, 2);
  const CheckpointState state =
      CheckpointState::from_json(CheckpointState::read(folder_ / "checkpoint-4"), folder_ / "checkpoint-4");
  ASSERT_TRUE(state.plateau.has_value());
  EXPECT_EQ(state.plateau->lr, plateau.state().lr);
  EXPECT_EQ(state.plateau->best, 0.5);
  EXPECT_EQ(state.plateau->without_gain, plateau.state().without_gain);
  EXPECT_EQ(state.plateau->cooldown_left, plateau.state().cooldown_left);
}

}  // namespace
}  // namespace hearth
