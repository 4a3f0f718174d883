#include "hearth/io/torch_file.h"

#include <cstring>
#include <map>

#include "hearth/io/file.h"
#include "hearth/io/pickle.h"
#include "tests/support.h"

// The files of tests/fixtures/torch are PyTorch's; its make_files.py says what they hold.
namespace hearth::io {
namespace {

std::filesystem::path torch_fixture(const std::string& name) { return fixture("torch") / name; }

std::map<std::string, TorchTensor> tensors_of(const std::filesystem::path& file) {
  std::map<std::string, TorchTensor> tensors;
  for (auto& [name, tensor] : read_state_dict(file)) tensors.emplace(name, tensor);
  return tensors;
}

template <class T>
std::vector<float> values(const Tensor& tensor) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < tensor.size(); ++i) all.push_back(static_cast<float>(tensor.data<T>()[i]));
  return all;
}

using Values = std::vector<float>;

class WeightsOfTorch : public testing::TestWithParam<const char*> {
 protected:
  Tensor read(const std::string& name) const { return tensors_.at(name).read(name); }

  std::map<std::string, TorchTensor> tensors_ = tensors_of(torch_fixture(GetParam()));
};

TEST_P(WeightsOfTorch, HaveEveryDTypeThatHearthHas) {
  EXPECT_EQ(values<float>(read("f32")), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read("f32").shape(), (Shape{2, 3}));
  EXPECT_EQ(values<BFloat16>(read("bf16")), (Values{1, 2, 3, 4, 5}));
  EXPECT_EQ(values<Float16>(read("f16")), (Values{1, 2, 3}));
  EXPECT_EQ(values<double>(read("f64")), (Values{1, 2}));
  EXPECT_EQ(read("i64").data<std::int64_t>()[1], -(std::int64_t{1} << 40));
  EXPECT_EQ(values<std::int32_t>(read("i32")), (Values{7, -7}));
  EXPECT_EQ(values<std::uint8_t>(read("u8")), (Values{0, 255}));
  EXPECT_EQ(values<std::uint8_t>(read("bool")), (Values{1, 0}));
  EXPECT_EQ(values<float>(read("parameter")), (Values{1, 2}));
  EXPECT_EQ(read("scalar").shape(), Shape());
  EXPECT_EQ(read("scalar").item(), 5.0f);
  EXPECT_EQ(read("empty").shape(), (Shape{0, 3}));
}

TEST_P(WeightsOfTorch, MayBeViewsOfOneStorage) {
  EXPECT_EQ(read("whole").shape(), (Shape{4, 6}));
  EXPECT_EQ(values<float>(read("row")), (Values{13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(values<float>(read("column")), (Values{2, 8, 14, 20}));
  EXPECT_EQ(read("transposed").shape(), (Shape{3, 3}));
  EXPECT_EQ(values<float>(read("transposed")), (Values{7, 13, 19, 9, 15, 21, 11, 17, 23}));
}

TEST_P(WeightsOfTorch, OfOtherDTypesAreRefusedByName) {
  EXPECT_EQ(error_of([&] { read("i16"); }),
            "i16 has dtype int16, which is not supported: store it as float32, bfloat16 or float16");
  EXPECT_TRUE(contains(error_of([&] { read("u16"); }), "u16 has dtype torch.uint16"));
}

INSTANTIATE_TEST_SUITE_P(InBothFormats, WeightsOfTorch, testing::Values("weights.bin", "old.bin"),
                         [](const auto& one) { return std::string(one.index == 0 ? "Zip" : "BeforePyTorch1Dot6"); });

TEST(TorchFile, TensorsAreNotCopied) {
  const auto tensors = tensors_of(torch_fixture("weights.bin"));
  const Tensor whole = tensors.at("whole").read(""), row = tensors.at("row").read("");
  EXPECT_EQ(row.data<float>(), whole.data<float>() + 12);
}

TEST(TorchFile, AModulesStateDictIsInItsOrder) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : read_state_dict(torch_fixture("module.bin"))) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"query.weight", "query.bias", "key.weight", "key.bias", "norm.weight",
                                             "norm.bias", "table.weight", "unused.weight", "unused.bias"}));
}

TEST(TorchFile, RandomStatesAreRead) {
  const PickleValue states = read_torch(torch_fixture("rng_state.pth"));
  const PickleValue* const python = states.find("python");
  ASSERT_NE(python, nullptr);
  EXPECT_EQ(python->get_if<PickleValue::Tuple>()->items.size(), 3u);
  ASSERT_NE(states.find("cpu"), nullptr);
  EXPECT_EQ(states.find("cpu")->object_if<TorchTensor>()->shape(), std::vector<std::int64_t>{5056});
}

// Nothing of a file is run: what is not a tensor or a state is refused by its name.
TEST(TorchFile, OtherGlobalsOpcodesAndProtocolsAreRefused) {
  const std::string command = error_of([] { read_torch(torch_fixture("command.bin")); });
  EXPECT_TRUE(contains(command, torch_fixture("command.bin").string() + ": the pickle names \"posix.system\""))
      << command;
  EXPECT_TRUE(contains(command, "nothing of it was run"));
  const std::string built = error_of([] { read_torch(torch_fixture("built.bin")); });
  EXPECT_TRUE(contains(built, "the pickle names \"__main__.IsBuilt\"")) << built;
  const std::string protocol = error_of([] { read_torch(torch_fixture("protocol4.bin")); });
  EXPECT_TRUE(contains(protocol, "the pickle has protocol 4")) << protocol;
}

TEST(TorchFile, ViewsThatRepeatValuesAreRefused) {
  const std::string expanded = error_of([] { read_torch(torch_fixture("expanded.bin")); });
  EXPECT_TRUE(contains(expanded, "a tensor of the shape (1000) repeats the 1 values of its storage")) << expanded;
}

class TorchFiles : public TemporaryFolder {
 protected:
  // Writes a file with the pickle of `value` and, as a storage of its own, two floats.
  std::filesystem::path write_value(const std::function<PickleValue(TorchWriter&)>& value) const {
    TorchWriter writer(folder_ / "file.pt");
    writer.commit(value(writer));
    return folder_ / "file.pt";
  }
  static PickleValue storage(std::int64_t elements, const char* kind = "torch.FloatStorage") {
    return PickleValue::object(
        PersistentId{PickleValue::Tuple{{"storage", PickleValue::Global{kind}, "0", "cpu", elements}}});
  }
  static PickleValue tensor(std::int64_t elements, std::int64_t offset, PickleValue::Tuple shape,
                            PickleValue::Tuple strides) {
    return PickleValue::object(PickleCall{"torch._utils._rebuild_tensor_v2",
                                          {storage(elements), offset, std::move(shape), std::move(strides), false,
                                           PickleValue::object(PickleCall{"collections.OrderedDict", {}})}});
  }
  // The error of a file with one storage of two floats and this value.
  std::string error_with(const PickleValue& value) const {
    const auto file = write_value([&](TorchWriter& writer) {
      writer.tensor(Tensor::zeros({2}, DType::f32));
      return value;
    });
    return error_of([&] { read_torch(file); });
  }
};

TEST_F(TorchFiles, ComeBackAsTheyWereWritten) {
  const Tensor matrix = Tensor::of(Values{1, 2, 3, 4, 5, 6}, {2, 3});
  const auto file = write_value([&](TorchWriter& writer) {
    return PickleValue::Dict{{{"matrix", writer.tensor(matrix)},
                              {"half", writer.tensor(Tensor::zeros({3}, DType::f16))},
                              {"none", {}},
                              {"true", true},
                              {"numbers", PickleValue::List{{std::int64_t{-3}, std::int64_t{1} << 40, 0.1}}},
                              {std::int64_t{7}, PickleValue::Tuple{{"seven"}}}}};
  });
  const PickleValue value = read_torch(file);
  EXPECT_EQ(values<float>(value.find("matrix")->object_if<TorchTensor>()->read("")), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(value.find("half")->object_if<TorchTensor>()->read("").type(), DType::f16);
  EXPECT_NE(value.find("none")->get_if<PickleValue::None>(), nullptr);
  EXPECT_TRUE(*value.find("true")->get_if<bool>());
  const auto& numbers = value.find("numbers")->get_if<PickleValue::List>()->items;
  EXPECT_EQ(*numbers[0].get_if<std::int64_t>(), -3);
  EXPECT_EQ(*numbers[1].get_if<std::int64_t>(), std::int64_t{1} << 40);
  EXPECT_EQ(*numbers[2].get_if<double>(), 0.1);
  EXPECT_EQ(*value.find(std::int64_t{7})->get_if<PickleValue::Tuple>()->items[0].get_if<std::string>(), "seven");
  EXPECT_EQ(value.find("absent"), nullptr);
}

TEST_F(TorchFiles, TensorsStayWithinTheirStorages) {
  using T = PickleValue::Tuple;
  const std::int64_t one = 1, two = 2, large = std::int64_t{1} << 62;
  EXPECT_EQ(error_with(tensor(2, 0, T{{two}}, T{{one}})), "");
  for (const PickleValue& bad : {tensor(2, 1, T{{two}}, T{{one}}), tensor(2, 0, T{{two}}, T{{two}}),
                                 tensor(2, 0, T{{large}}, T{{large}}), tensor(2, large, T{{two}}, T{{large}})})
    EXPECT_TRUE(contains(error_with(bad), "reaches beyond its storage"));
  EXPECT_TRUE(contains(error_with(tensor(2, -1, T{{one}}, T{{one}})), "is damaged"));
  EXPECT_TRUE(contains(error_with(tensor(2, 0, T{{-one}}, T{{one}})), "is damaged"));
  EXPECT_TRUE(contains(error_with(tensor(2, 0, T{{one, one}}, T{{one}})), "is damaged"));
  EXPECT_TRUE(
      contains(error_with(tensor(3, 0, T{{one}}, T{{one}})), "contradicts itself: the storage \"0\" of 3 elements"));
  EXPECT_TRUE(contains(error_with(tensor(large, 0, T{{one}}, T{{one}})), "would have"));
}

TEST_F(TorchFiles, CallsAreAsPyTorchWritesThem) {
  EXPECT_TRUE(contains(error_with(PickleValue::object(PickleCall{"torch._utils._rebuild_tensor_v2", {}})),
                       "is damaged: a tensor"));
  EXPECT_TRUE(contains(error_with(PickleValue::object(PickleCall{"torch.FloatStorage", {}})), "a call of"));
  EXPECT_TRUE(contains(error_with(PickleValue::object(PersistentId{"module"})), "is damaged: a storage"));
  EXPECT_TRUE(contains(error_with(storage(2, "torch.device")), "is damaged: a storage"));
}

TEST_F(TorchFiles, ThatAreCutAnywhereAreRefused) {
  for (const char* name : {"weights.bin", "old.bin"}) {
    const std::string bytes = read_file(torch_fixture(name));
    for (std::size_t size = 0; size < bytes.size(); size += 97) {
      const std::string message = error_of([&] { read_torch(write("cut.bin", bytes.substr(0, size))); });
      EXPECT_TRUE(contains(message, (folder_ / "cut.bin").string())) << name << " cut at " << size;
    }
  }
}

TEST_F(TorchFiles, OtherFilesAreNamed) {
  EXPECT_TRUE(contains(error_of([&] { read_torch(write("a.bin", "version https://git-lfs.github.com/spec/v1\n")); }),
                       "is a Git LFS pointer"));
  EXPECT_TRUE(contains(error_of([&] { read_torch(write("a.bin", "{}")); }), "not a file of torch.save"));
  EXPECT_TRUE(contains(error_of([&] { read_state_dict(write_value([](auto&) { return PickleValue(true); })); }),
                       "is not a state dict"));
}

}  // namespace
}  // namespace hearth::io
