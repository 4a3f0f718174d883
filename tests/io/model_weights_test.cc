#include "hearth/io/model_weights.h"

#include <cstdlib>

#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/torch_file.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

Tensor filled(float value) {
  Tensor tensor(Shape{1}, DType::f32);
  *tensor.data<float>() = value;
  return tensor;
}

class CheckpointTest : public TemporaryFolder {
 protected:
  CheckpointTest() {
    write_safetensors(folder_ / "part-1.safetensors", {{"a", filled(1.0f)}, {"b", filled(2.0f)}});
    write_safetensors(folder_ / "part-2.safetensors", {{"c", filled(3.0f)}});
  }

  std::string error_with(const std::string& index) const {
    replace_file(index_, index);
    return error_of([&] { ModelWeights::open(folder_); });
  }

  std::filesystem::path index_ = folder_ / "model.safetensors.index.json";
};

TEST_F(CheckpointTest, OneFile) {
  write_safetensors(folder_ / "model.safetensors", {{"w", filled(5.0f)}});
  const ModelWeights checkpoint = ModelWeights::open(folder_);
  EXPECT_EQ(checkpoint.names(), std::vector<std::string>{"w"});
  EXPECT_EQ(checkpoint.tensor("w").item(), 5.0f);
  EXPECT_EQ(error_of([&] { checkpoint.tensor("v"); }), "The model folder " + folder_.string() + " has no tensor \"v\"");
}

TEST_F(CheckpointTest, FindsOldNamesOfLayerNorms) {
  write_safetensors(folder_ / "model.safetensors",
                    {{"x.LayerNorm.gamma", filled(1.0f)}, {"y.LayerNorm.bias", filled(2.0f)}});
  const ModelWeights checkpoint = ModelWeights::open(folder_);
  EXPECT_EQ(checkpoint.stored_name("x.LayerNorm.weight"), "x.LayerNorm.gamma");
  EXPECT_EQ(checkpoint.stored_name("y.LayerNorm.bias"), "y.LayerNorm.bias");
  EXPECT_EQ(checkpoint.stored_name("x.LayerNorm.bias"), std::nullopt);
  EXPECT_EQ(checkpoint.stored_name("x.dense.weight"), std::nullopt);
}

TEST_F(CheckpointTest, Shards) {
  replace_file(index_, R"({"metadata": {"total_size": 12}, "weight_map": {"a": "part-1.safetensors",
                           "c": "part-2.safetensors", "b": "part-1.safetensors"}})");
  const ModelWeights checkpoint = ModelWeights::open(folder_);
  EXPECT_EQ(checkpoint.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(checkpoint.contains("b"));
  EXPECT_FALSE(checkpoint.contains("d"));
  EXPECT_EQ(checkpoint.tensor("b").item(), 2.0f);
  EXPECT_EQ(checkpoint.tensor("c").item(), 3.0f);
}

TEST_F(CheckpointTest, TheSingleFileComesFirst) {
  replace_file(index_, "{}");
  write_safetensors(folder_ / "model.safetensors", {{"w", filled(5.0f)}});
  EXPECT_EQ(ModelWeights::open(folder_).names(), std::vector<std::string>{"w"});
}

TEST_F(CheckpointTest, BadIndex) {
  const std::string index = index_.string();
  EXPECT_TRUE(contains(error_with("{"), index + " is not valid JSON"));
  EXPECT_EQ(error_with("{}"), index + " lacks the object \"weight_map\"");
  EXPECT_EQ(error_with("[]"), index + " lacks the object \"weight_map\"");
  EXPECT_EQ(error_with(R"({"weight_map": []})"), index + " lacks the object \"weight_map\"");
  EXPECT_EQ(error_with(R"({"weight_map": {"a": 1}})"),
            index + ": the tensor \"a\" must be mapped to the name of a file, found 1");
  EXPECT_EQ(error_with(R"({"weight_map": {"a": "part-9.safetensors"}})"),
            folder_.string() + " lacks the file part-9.safetensors, which " + index + " names for the tensor \"a\"");
  EXPECT_EQ(
      error_with(R"({"weight_map": {"a": "part-2.safetensors"}})"),
      (folder_ / "part-2.safetensors").string() + " does not hold the tensor \"a\", which " + index + " places there");
}

TEST_F(CheckpointTest, ShardsStayInTheFolder) {
  for (const char* shard : {"../part-1.safetensors", "/etc/passwd", "sub/part-1.safetensors", "..", ".", "",
                            "..\\\\part-1.safetensors", "part-1.safetensors\\u0000"}) {
    const std::string message = error_with(std::string(R"({"weight_map": {"a": ")") + shard + "\"}}");
    EXPECT_TRUE(contains(message, index_.string() + ": the tensor \"a\" is mapped to ")) << message;
    EXPECT_TRUE(contains(message, "not the name of a file beside it")) << message;
  }
}

TEST_F(CheckpointTest, NoWeights) {
  EXPECT_TRUE(contains(error_of([&] { ModelWeights::open(folder_); }), folder_.string() + " has no weights"));
  EXPECT_EQ(error_of([&] { ModelWeights::open(folder_ / "absent"); }),
            "The model folder " + (folder_ / "absent").string() + " does not exist");
}

void write_torch(const std::filesystem::path& path, const std::string& name, float value) {
  TorchWriter writer(path);
  writer.commit(PickleValue::Dict{{{name, writer.tensor(filled(value))}}});
}

TEST_F(CheckpointTest, FilesOfPyTorchAreTakenWhereThereAreNoSafetensors) {
  write_torch(folder_ / "part-1.bin", "a", 1);
  write_torch(folder_ / "part-2.bin", "b", 2);
  replace_file(folder_ / "pytorch_model.bin.index.json", R"({"weight_map": {"a": "part-1.bin", "b": "part-2.bin"}})");
  const ModelWeights shards = ModelWeights::open(folder_);
  EXPECT_EQ(shards.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(shards.tensor("b").item(), 2.0f);
  EXPECT_EQ(shards.file_of("b"), (folder_ / "part-2.bin").string());
  write_torch(folder_ / "pytorch_model.bin", "w", 3);
  EXPECT_EQ(ModelWeights::open(folder_).tensor("w").item(), 3.0f);
  replace_file(index_, R"({"weight_map": {"c": "part-2.safetensors"}})");
  EXPECT_EQ(ModelWeights::open(folder_).names(), std::vector<std::string>{"c"});
}

TEST(Goldens, AllFilesOpen) {
  const char* goldens = std::getenv("HEARTH_GOLDENS_DIR");
  if (goldens == nullptr) GTEST_SKIP() << "HEARTH_GOLDENS_DIR is not set";
  int files = 0, folders = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(goldens)) {
    if (item.path().extension() != ".safetensors") continue;
    const Safetensors file = Safetensors::open(item.path());
    for (const std::string& name : file.names()) EXPECT_TRUE(file.tensor(name).defined()) << item.path() << " " << name;
    ++files;
    if (item.path().filename() != "model.safetensors") continue;
    EXPECT_EQ(ModelWeights::open(item.path().parent_path()).names(), file.names());
    ++folders;
  }
  EXPECT_GT(files, 0);
  EXPECT_GT(folders, 0);
}

}  // namespace
}  // namespace hearth::io
