// The order of parameters in optimizer.pt, compared with that of transformers (tests/fixtures/torch).
#include "hearth/train/torch_groups.h"

#include "hearth/io/json.h"
#include "hearth/optim/optimizer.h"
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

}  // namespace
}  // namespace hearth
