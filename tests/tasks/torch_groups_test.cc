// The order of parameters in optimizer.pt, compared with that of transformers (tests/fixtures/torch).
#include "hearth/train/torch_groups.h"

#include "hearth/io/json.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/optim/optimizer.h"
#include "hearth/train/torch_optimizer.h"
#include "tests/models/small_models.h"

namespace hearth {
namespace {

using Names = std::vector<std::string>;

Names names_of(const std::vector<Parameter::Part>& parts) {
  Names names;
  for (const Parameter::Part& part : parts) names.push_back(part.name);
  return names;
}

void expect_order_of_transformers(int version) {
  const io::Json expected = io::read_json(fixture("torch") / fmt::format("named_parameters_{}.json", version));
  for (const models::Built& built : models::kModels) {
    const std::string model = built.golden + " " + std::string(models::architecture_suffix(built.head));
    const auto transformer = models::build(built);
    const ParameterStore& store = transformer->parameters();
    std::array<Names, 2> groups;
    for (std::string name : expected.at(model)) {
      if (name == "lm_head.decoder.weight") name = "roberta.embeddings.word_embeddings.weight";  // tied
      for (const auto& parameter : store.parameters())
        for (const Parameter::Part& part : parameter->parts)
          if (part.name == name) groups[optim::decays(*parameter) ? 0 : 1].push_back(part.name);
    }
    EXPECT_EQ(groups[0].size() + groups[1].size(), expected.at(model).size()) << model;
    const TorchGroups ours =
        torch_groups(store, version == 5 ? order_of_version_5(transformer->architecture()) : TorchOrder::version_4);
    EXPECT_EQ(names_of(ours[0]), groups[0]) << model;
    EXPECT_EQ(names_of(ours[1]), groups[1]) << model;
  }
}

TEST(TorchGroups, AreInTheOrderOfTransformers4) { expect_order_of_transformers(4); }
TEST(TorchGroups, AreInTheOrderOfTransformers5) { expect_order_of_transformers(5); }

// In some of these orders a parameter of the head comes before those of the encoder that have its shape.
TEST(TorchGroups, AreReadInTheOrderInWhichTheyWereWritten) {
  const TemporaryPlace place;
  const std::filesystem::path file = place.path() / "optimizer.pt";
  for (const models::Built& built : models::kModels) {
    const auto model = models::build(built);
    const ParameterStore& store = model->parameters();
    optim::Optimizer::State state;
    for (const NamedParameter& each : store.named()) {
      state.emplace_back("exp_avg." + each.name, Tensor(each.value.shape(), DType::f32));
      kernels::fill(DType::f32, each.value.size(), static_cast<float>(state.size()), state.back().second.raw());
    }
    for (const TorchOrder order : kTorchOrders) {
      write_torch_optimizer(file, torch_groups(store, order), state, {.options = {}, .steps = 1});
      const TorchOptimizer read = read_torch_optimizer(file, store);
      EXPECT_EQ(read.moments.size(), state.size()) << models::describe(built);
      for (const auto& [name, moments] : state)
        EXPECT_EQ(read.moments.at(name).data<float>()[0], moments.data<float>()[0])
            << models::describe(built) << " " << name << " in order " << static_cast<int>(order);
    }
  }
}

}  // namespace
}  // namespace hearth
