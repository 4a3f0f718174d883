// Training with frozen parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "hearth/cpu/memory.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/train/trainer.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

bool is_frozen(std::string_view name) { return name.starts_with("embeddings.") || name.starts_with("layer.0."); }

ToyModel frozen_model(float dropout = 0, std::uint64_t seed = 1) { return ToyModel(dropout, seed, is_frozen); }

std::map<std::string, std::vector<float>> weights_of(const ToyModel& model) {
  std::map<std::string, std::vector<float>> weights;
  for (const NamedParameter& each : model.parameters().named()) {
    std::vector<float>& values = weights[each.name];
    values.resize(static_cast<std::size_t>(each.value.size()));
    kernels::convert(each.value.type(), each.value.raw(), DType::f32, values.data(), each.value.size());
  }
  return weights;
}

// Rounds the frozen weights to a narrow format, and keeps them in it where asked to.
void narrow(ToyModel& model, DType type, bool keep) {
  for (const auto& parameter : model.parameters().parameters()) {
    if (parameter->trainable) continue;
    const Tensor values = parameter->master, rounded(values.shape(), type);
    kernels::convert(values.type(), values.raw(), type, rounded.raw(), values.size());
    if (keep) parameter->store_as(type);
    kernels::convert(type, rounded.raw(), parameter->master.type(), parameter->master.raw(), rounded.size());
  }
  model.parameters().mark_changed();
}

std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = io::read_file(entry.path());
  return files;
}

class Freezing : public TrainerTest {
 protected:
  static constexpr std::string_view kFormats[] = {"fp32", "bf16", "fp16"};

  TrainingArguments arguments_in(std::string_view format) const {
    TrainingArguments args = arguments();
    args.bf16 = format == "bf16";
    args.fp16 = format == "fp16";
    args.save_strategy = Strategy::steps;
    args.save_steps = 4;
    args.weight_decay = 0.1;
    args.output_dir = (folder_ / format).string();
    return args;
  }
};

TEST_F(Freezing, FrozenWeightsStayAsTheyAreAndTheOthersLearn) {
  for (const std::string_view format : kFormats)
    for (const bool checkpointing : {false, true}) {
      TrainingArguments args = arguments_in(format);
      args.num_train_epochs = 6;
      args.gradient_checkpointing = checkpointing;
      ToyModel model = frozen_model(0.1f);
      const auto before = weights_of(model);
      ToyTrainer trainer(model, args, toy_dataset(24));
      trainer.train();
      for (const auto& [name, values] : weights_of(model))
        EXPECT_EQ(values == before.at(name), is_frozen(name)) << name << " in " << format;
      const io::Json& rows = trainer.state().log_history;
      EXPECT_LT(number(rows[35], "loss"), 0.8 * number(rows[0], "loss")) << format;
    }
}

TEST_F(Freezing, TheFirstStepIsThatOfAModelWithoutFreezing) {
  TrainingArguments args = arguments();
  args.max_steps = 1;
  args.max_grad_norm = 0;
  ToyModel all(0.1f), some = frozen_model(0.1f);
  const auto before = weights_of(all);
  ToyTrainer(all, args, toy_dataset(24)).train();
  ToyTrainer(some, args, toy_dataset(24)).train();
  const auto expected = weights_of(all);
  for (const auto& [name, values] : weights_of(some))
    EXPECT_EQ(values, is_frozen(name) ? before.at(name) : expected.at(name)) << name;
}

TEST_F(Freezing, TheRunKeepsNothingForFrozenWeights) {
  const auto args = arguments_in("fp32");
  ToyModel model = frozen_model();
  ToyTrainer(model, args, toy_dataset(24)).train();
  const io::Safetensors moments =
      io::Safetensors::open(std::filesystem::path(args.output_dir) / "checkpoint-4" / "optimizer.safetensors");
  std::size_t trained = 0;
  for (const NamedParameter& each : model.parameters().named()) {
    trained += each.parameter->trainable;
    EXPECT_EQ(moments.contains("exp_avg." + each.name), each.parameter->trainable) << each.name;
    EXPECT_EQ(moments.contains("exp_avg_sq." + each.name), each.parameter->trainable) << each.name;
  }
  EXPECT_EQ(moments.names().size(), 2 * trained);
}

TEST_F(Freezing, SixteenBitsInMemoryChangeNothing) {
  for (const std::string_view format : kFormats)
    for (const DType stored : {DType::bf16, DType::f16}) {
      ToyModel wide = frozen_model(0.1f), small = frozen_model(0.1f);
      narrow(wide, stored, false);
      narrow(small, stored, true);
      const TrainingArguments args = arguments_in(format);
      ToyTrainer(wide, args, toy_dataset(24)).train();
      const auto expected = files_of(std::filesystem::path(args.output_dir) / "checkpoint-12");
      ToyTrainer(small, args, toy_dataset(24)).train();
      EXPECT_EQ(weights_of(small), weights_of(wide)) << format << " of " << name_of(stored);
      EXPECT_TRUE(files_of(std::filesystem::path(args.output_dir) / "checkpoint-12") == expected);
      for (const auto& parameter : small.parameters().parameters())
        EXPECT_EQ(parameter->master.type(), parameter->trainable ? DType::f32 : stored);
    }
}

TEST_F(Freezing, ARunIsResumedBitForBit) {
  for (const std::string_view format : kFormats)
    for (const bool in_sixteen_bits : {false, true}) {
      const TrainingArguments args = arguments_in(format);
      const std::filesystem::path out = args.output_dir;
      ToyModel whole = frozen_model(0.1f), rest = frozen_model(0.1f);
      if (in_sixteen_bits)
        for (ToyModel* model : {&whole, &rest}) narrow(*model, DType::f16, true);
      ToyTrainer trainer(whole, args, toy_dataset(22));
      trainer.train();
      const auto expected = files_of(out / "checkpoint-12");
      ToyTrainer resumed(rest, args, toy_dataset(22));
      resumed.train(out / "checkpoint-4");
      EXPECT_EQ(weights_of(rest), weights_of(whole)) << format;
      EXPECT_EQ(without_times(resumed.state().log_history), without_times(trainer.state().log_history)) << format;
      EXPECT_TRUE(files_of(out / "checkpoint-12") == expected) << format;
      for (const auto& parameter : rest.parameters().parameters())
        EXPECT_EQ(parameter->master.type(), !parameter->trainable && in_sixteen_bits ? DType::f16 : DType::f32);
    }
}

TEST_F(Freezing, ACheckpointWithOtherFrozenParametersIsRefused) {
  const TrainingArguments args = arguments_in("fp32");
  const std::filesystem::path checkpoint = std::filesystem::path(args.output_dir) / "checkpoint-4";
  ToyModel all, some = frozen_model();
  const auto error = [&](ToyModel& model) {
    return error_of([&] { ToyTrainer(model, args, toy_dataset(24)).train(checkpoint); });
  };
  ToyTrainer(all, args, toy_dataset(24)).train();
  const std::string more = error(some);
  for (const std::string& part : {checkpoint.string(), std::string("embeddings.word_embeddings.weight"),
                                  std::string("which this run freezes"), std::string("--freeze")})
    EXPECT_TRUE(contains(more, part)) << more;
  std::filesystem::remove_all(args.output_dir);
  ToyTrainer(some, args, toy_dataset(24)).train();
  const std::string fewer = error(all);
  for (const std::string& part :
       {checkpoint.string(), std::string("exp_avg.embeddings.word_embeddings.weight"), std::string("--freeze")})
    EXPECT_TRUE(contains(fewer, part)) << fewer;
}

// Weights that another run has trained may not fit into the 16 bits of the model that this run loaded first.
TEST_F(Freezing, WeightsOfACheckpointAreTakenExactly) {
  TrainingArguments args = arguments_in("fp32");
  args.save_only_model = true;
  ToyModel all, some = frozen_model();
  ToyTrainer(all, args, toy_dataset(24)).train();
  narrow(some, DType::f16, true);
  some.load_weights(std::filesystem::path(args.output_dir) / "checkpoint-12");
  EXPECT_EQ(weights_of(some), weights_of(all));
  narrow(some, DType::f16, true);
  some.save_pretrained(folder_ / "rounded");
  const auto rounded = weights_of(some);
  some.load_weights(folder_ / "rounded");
  EXPECT_EQ(weights_of(some), rounded);
  EXPECT_EQ(some.parameters().named().front().value.type(), DType::f16);
}

TEST_F(Freezing, TwoRanksEndWithTheWeightsOfOne) {
  for (const bool sharded : {false, true}) {
    TrainingArguments args = arguments();
    args.optim = "sgd";
    args.learning_rate = 0.1;
    args.per_device_train_batch_size = 8;
    ToyModel alone = frozen_model(0.1f);
    const auto before = weights_of(alone);
    ToyTrainer(alone, args, toy_dataset(64)).train();
    const auto expected = weights_of(alone);
    args.per_device_train_batch_size = 4;
    args.sharded_optimizer = sharded;
    std::vector<std::map<std::string, std::vector<float>>> weights(2);
    comm::run_threads(2, [&](comm::ProcessGroup& group) {
      ToyModel model = frozen_model(0.1f);
      ToyTrainer(model, args, toy_dataset(64), {}, parallel::team_of(group)).train();
      weights[static_cast<std::size_t>(group.rank())] = weights_of(model);
    });
    EXPECT_EQ(weights[0], weights[1]);
    for (const auto& [name, values] : weights[0]) {
      EXPECT_EQ(values == before.at(name), is_frozen(name)) << name;
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected.at(name)[i], 1e-5) << name;
    }
  }
}

// Frozen weights are never sent, so all ranks must have loaded the same.
TEST_F(Freezing, RanksWithOtherFrozenWeightsAreToldAtTheStart) {
  const auto error_with = [&](const std::function<ToyModel(int rank)>& model_of) {
    std::vector<std::string> errors(2);
    comm::run_threads(2, [&](comm::ProcessGroup& group) {
      ToyModel model = model_of(group.rank());
      errors[static_cast<std::size_t>(group.rank())] =
          error_of([&] { ToyTrainer(model, arguments(), toy_dataset(24), {}, parallel::team_of(group)); });
    });
    EXPECT_EQ(errors[0], errors[1]);
    return errors[0];
  };
  EXPECT_EQ(error_with([](int) { return frozen_model(); }), "");
  const std::string others = error_with([](int rank) { return frozen_model(0, static_cast<std::uint64_t>(rank)); });
  EXPECT_TRUE(contains(others, "the frozen weights")) << others;
  const std::string one = error_with([](int rank) { return rank == 0 ? frozen_model() : ToyModel(); });
  EXPECT_TRUE(contains(one, "the frozen weights")) << one;
}

// An evaluation in bf16 makes copies of the weights that fp32 training has no use for.
TEST_F(Freezing, AnEvaluationInAnotherFormatLeavesNoCopies) {
  for (const bool frozen : {false, true}) {
    TrainingArguments args = arguments();
    args.bf16_full_eval = true;
    args.eval_strategy = Strategy::steps;
    args.eval_steps = 4;
    args.max_steps = 10;
    ToyModel model = frozen ? frozen_model() : ToyModel();
    const auto copies = [&] {
      std::size_t count = 0;
      for (const auto& parameter : model.parameters().parameters())
        count += static_cast<std::size_t>(
            std::ranges::count(parameter->copies, DType::bf16, [](const WeightCopy& copy) { return copy.form.type; }));
      return count;
    };
    std::vector<std::size_t> before, after;
    TrainerOptions trainer_options;
    trainer_options.evaluate = [&](Trainer& trainer) {
      before.push_back(copies());
      trainer.predict_batches(*toy_dataset(5), [](const auto&...) {});
      after.push_back(copies());
      return Metrics{{"eval_x", 0}};
    };
    ToyTrainer(model, args, toy_dataset(24), trainer_options).train();
    EXPECT_EQ(before, (std::vector<std::size_t>{0, 0}));
    EXPECT_GT(after.at(0), 0u);
    EXPECT_EQ(copies(), 0u);
  }
}

}  // namespace
}  // namespace hearth
