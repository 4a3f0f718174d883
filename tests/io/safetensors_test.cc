#include "hearth/io/safetensors.h"

#include <bit>
#include <cstring>
#include <random>

#include "hearth/io/file.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  const std::uint64_t size = header.size();
  std::memcpy(length.data(), &size, 8);
  return length + header + data;
}

std::string braced(const std::string& first, const std::string& second) {
  return fmt::format("{{{},{}}}", first, second);
}

template <class T>
Tensor tensor_of(Shape shape, std::initializer_list<T> values) {
  Tensor tensor(shape, dtype_of<T>);
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

class SafetensorsTest : public TemporaryFolder {
 protected:
  Safetensors opened(const std::string& contents) const {
    replace_file(path_, contents);
    return Safetensors::open(path_);
  }

  // Opening must fail with a message that names the file, one that holds `culprit`.
  void expect_refused(const std::string& contents, const std::string& culprit) const {
    const std::string message = error_of([&] { opened(contents); });
    EXPECT_TRUE(contains(message, path_.string())) << message;
    EXPECT_TRUE(contains(message, culprit)) << message;
    EXPECT_EQ(message.find('\n'), message.npos);
  }

  std::filesystem::path path_ = folder_ / "weights.safetensors";
};

TEST_F(SafetensorsTest, RoundTrip) {
  Tensor half(Shape{3}, DType::f16);
  for (int i = 0; i < 3; ++i) half.data<Float16>()[i] = Float16(0.5f * static_cast<float>(i));
  Tensor brain(Shape{1, 1, 1, 1}, DType::bf16);
  *brain.data<BFloat16>() = BFloat16(-3.0f);
  write_safetensors(path_,
                    {{"u8", tensor_of<std::uint8_t>(Shape{3}, {1, 2, 255})},
                     {"f32", tensor_of<float>(Shape{2, 2}, {1.5f, -2.0f, 3.25f, 1e-30f})},
                     {"half", half},
                     {"brain", brain},
                     {"scalar", tensor_of<double>(Shape{}, {0.1})},
                     {"i64", tensor_of<std::int64_t>(Shape{2}, {-1, std::int64_t{1} << 60})},
                     {"i32", tensor_of<std::int32_t>(Shape{1}, {-5})},
                     {"empty", Tensor(Shape{0, 4}, DType::f32)},
                     {"n\u00e4me \"quoted\"", tensor_of<float>(Shape{1}, {7.0f})}},
                    {{"format", "pt"}, {"step", "12"}});
  const Safetensors file = Safetensors::open(path_);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"brain", "empty", "f32", "half", "i32", "i64",
                                                    "n\u00e4me \"quoted\"", "scalar", "u8"}));
  EXPECT_EQ(file.metadata(), (Safetensors::Metadata{{"format", "pt"}, {"step", "12"}}));
  EXPECT_EQ(file.entry("f32").dtype, "F32");
  EXPECT_EQ(file.entry("f32").shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(file.tensor("f32").shape(), (Shape{2, 2}));
  EXPECT_EQ(file.tensor("f32").data<float>()[3], 1e-30f);
  EXPECT_EQ(*file.tensor("scalar").data<double>(), 0.1);
  EXPECT_EQ(file.tensor("scalar").shape().rank(), 0);
  EXPECT_EQ(file.tensor("i64").data<std::int64_t>()[1], std::int64_t{1} << 60);
  EXPECT_EQ(*file.tensor("i32").data<std::int32_t>(), -5);
  EXPECT_EQ(file.tensor("u8").data<std::uint8_t>()[2], 255);
  EXPECT_EQ(static_cast<float>(file.tensor("half").data<Float16>()[2]), 1.0f);
  EXPECT_EQ(file.tensor("brain").item(), -3.0f);
  EXPECT_EQ(file.tensor("empty").shape(), (Shape{0, 4}));
  EXPECT_TRUE(file.tensor("empty").defined());
  EXPECT_EQ(file.tensor("n\u00e4me \"quoted\"").item(), 7.0f);
  EXPECT_TRUE(file.contains("f32"));
  EXPECT_FALSE(file.contains("f33"));
  EXPECT_EQ(error_of([&] { file.tensor("f33"); }), path_.string() + " has no tensor \"f33\"");
  EXPECT_EQ(number_of_files(), 1u);
}

TEST_F(SafetensorsTest, WrittenHeaderIsPaddedAndWideNumbersComeFirst) {
  write_safetensors(path_, {{"a", tensor_of<std::uint8_t>(Shape{1}, {1})}, {"b", tensor_of<float>(Shape{1}, {1.0f})}});
  const std::string contents = read_file(path_);
  EXPECT_EQ(static_cast<unsigned char>(contents[0]) % 8, 0);
  EXPECT_TRUE(contents.substr(8).starts_with(R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "F32", )"))
      << contents;
}

TEST_F(SafetensorsTest, TensorsAreViewsThatOutliveTheFile) {
  write_safetensors(path_, {{"a", tensor_of<float>(Shape{2}, {1.0f, 2.0f})}});
  Tensor first, second;
  {
    const Safetensors file = Safetensors::open(path_);
    first = file.tensor("a");
    second = file.tensor("a");
  }
  EXPECT_EQ(first.raw(), second.raw());
  write_safetensors(path_, {{"a", tensor_of<float>(Shape{2}, {8.0f, 9.0f})}});
  EXPECT_EQ(first.data<float>()[1], 2.0f);
}

TEST_F(SafetensorsTest, MisalignedDataAreCopied) {
  const float values[] = {1.0f, 2.0f};
  const std::string bytes(reinterpret_cast<const char*>(values), sizeof(values));
  for (int padding = 0; padding < 4; ++padding) {
    const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})" +
                               std::string(static_cast<std::size_t>(padding), ' ');
    const Tensor tensor = opened(file_of(header, bytes)).tensor("a");
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(tensor.raw()) % alignof(float), 0u);
    EXPECT_EQ(tensor.data<float>()[1], 2.0f);
  }
}

TEST_F(SafetensorsTest, EmptyHeader) {
  EXPECT_TRUE(opened(file_of("{}", "")).names().empty());
  write_safetensors(path_, {}, {});
  EXPECT_TRUE(Safetensors::open(path_).names().empty());
}

TEST_F(SafetensorsTest, FormatsWithoutATypeAreListed) {
  const Safetensors file = opened(file_of(
      R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},"c":{"dtype":"I8","shape":[2],"data_offsets":[2,4]},)"
      R"("d":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[4,5]},"e":{"dtype":"F4","shape":[2],"data_offsets":[5,6]}})",
      std::string("\0\1abcd", 6)));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"b", "c", "d", "e"}));
  EXPECT_EQ(file.tensor("b").type(), DType::u8);
  EXPECT_EQ(file.tensor("b").data<std::uint8_t>()[1], 1);
  for (const auto* name : {"c", "d", "e"}) {
    const std::string message = error_of([&] { file.tensor(name); });
    EXPECT_TRUE(contains(message, path_.string() + ": the tensor \"" + name + "\" has dtype ")) << message;
  }
}

TEST_F(SafetensorsTest, FiveDimensionsAreRefusedWhenAskedFor) {
  const Safetensors file = opened(file_of(R"({"deep":{"dtype":"U8","shape":[1,1,1,1,1],"data_offsets":[0,1]}})", "x"));
  EXPECT_TRUE(file.contains("deep"));
  EXPECT_EQ(error_of([&] { file.tensor("deep"); }),
            path_.string() + ": the tensor \"deep\" has 5 dimensions, but at most 4 are supported");
}

TEST_F(SafetensorsTest, BadFrames) {
  expect_refused("", "it has 0 bytes");
  expect_refused("1234567", "it has 7 bytes");
  expect_refused(std::string("\x10\0\0\0\0\0\0\0{}", 10), "its header would have 16 bytes, the file has 10");
  expect_refused(std::string(8, '\xff'), "its header would have 18446744073709551615 bytes");
  expect_refused(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10), "its header would have 100000001 bytes");
  expect_refused(file_of("", ""), "is not valid JSON");
  expect_refused(file_of("{\"a\":", ""), "is not valid JSON: column 6");
  expect_refused(file_of("[]", ""), "must be a JSON object");
  expect_refused(file_of("3", ""), "must be a JSON object");
  expect_refused(file_of("\xff\xfe", ""), "is not valid JSON");
  expect_refused("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "git lfs pull");
  EXPECT_TRUE(
      contains(error_of([&] { Safetensors::open(folder_ / "absent.safetensors"); }), "absent.safetensors: No such"));
}

TEST_F(SafetensorsTest, BadEntries) {
  const auto refused = [&](const std::string& info, const std::string& culprit) {
    expect_refused(file_of(fmt::format("{{\"bad\":{}}}", info), "12345678"), culprit);
    expect_refused(file_of(fmt::format("{{\"bad\":{}}}", info), "12345678"), "tensor \"bad\"");
  };
  const auto shaped = [](const std::string& shape) {
    return R"({"dtype":"F32","data_offsets":[0,8],"shape":)" + shape + "}";
  };
  const auto placed = [](const std::string& offsets) {
    return R"({"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}";
  };
  refused("3", "must be described by an object");
  refused("{}", "lacks the key \"dtype\"");
  refused(R"({"dtype":3,"shape":[2],"data_offsets":[0,8]})", "\"dtype\" must be a string, found 3");
  refused(R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})", "unknown dtype \"F33\"");
  refused(R"({"dtype":"F32","data_offsets":[0,8]})", "\"shape\" must be an array");
  refused(shaped("2"), "\"shape\" must be an array");
  refused(shaped("[-2]"), "found -2");
  refused(shaped("[2.0]"), "found 2.0");
  refused(shaped("[\"2\"]"), "found \"2\"");
  refused(shaped("[18446744073709551615]"), "found 18446744073709551615");
  refused(shaped("[36893488147419103232]"), "found 3.6893488147419103e+19");
  refused(shaped("[4294967296, 4294967296]"), "the shape [4294967296, 4294967296] overflows");
  refused(shaped("[4611686018427387904, 1]"), "overflows");
  refused(shaped("[0, 4294967296, 4294967296]"), "overflows");
  refused(shaped("[3]"), "the shape [3] in F32 takes 12 bytes, but data_offsets span 8");
  refused(shaped("[]"), "takes 4 bytes");
  refused(R"({"dtype":"F4","shape":[3],"data_offsets":[0,8]})", "does not fill whole bytes");
  refused(R"({"dtype":"F32","shape":[2]})", "\"data_offsets\" must be two non-negative integers");
  refused(placed("8"), "found 8");
  refused(placed("[0]"), "found [0]");
  refused(placed("[0, 4, 8]"), "found [0, 4, 8]");
  refused(placed("[0, 8.0]"), "found [0, 8.0]");
  refused(placed("[-8, 0]"), "found [-8, 0]");
  refused(placed("[8, 0]"), "begins at byte 8, after its end at byte 0");
  refused(placed("[4, 12]"), "ends at byte 12, but the file has only 8 bytes of data");
  refused(placed("[0, 18446744073709551615]"), "ends at byte 18446744073709551615");
}

TEST_F(SafetensorsTest, BadCoverage) {
  const std::string first = R"("first":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const auto second = [](const char* shape, const char* offsets) {
    return fmt::format(R"("second":{{"dtype":"U8","shape":[{}],"data_offsets":[{}]}})", shape, offsets);
  };
  expect_refused(file_of(braced(first, second("4", "2,6")), "123456"),
                 "the data of the tensors \"first\" and \"second\" overlap");
  expect_refused(file_of(braced(first, second("4", "0,4")), "1234"), "overlap");
  expect_refused(file_of(braced(first, second("0", "2,2")), "1234"), "overlap");
  expect_refused(file_of(braced(first, second("2", "6,8")), "12345678"),
                 "before the tensor \"second\", belong to no tensor");
  expect_refused(file_of(fmt::format("{{{}}}", first), "12345"), "to the end at 70 belong to no tensor");
  expect_refused(file_of("{}", "1"), "the bytes from 10 to the end at 11 belong to no tensor");
  EXPECT_EQ(opened(file_of(braced(second("2", "4,6"), first), "123456")).names().size(), 2u);
  EXPECT_EQ(opened(file_of(braced(second("0", "4,4"), first), "1234")).names().size(), 2u);
}

TEST_F(SafetensorsTest, DuplicatesAndMetadata) {
  const std::string entry = R"("twin":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_refused(file_of(braced(entry, entry), "1"), "has the key \"twin\" twice");
  expect_refused(file_of(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", "1"),
                 "\"dtype\" twice");
  expect_refused(file_of(R"({"__metadata__":3})", ""), "__metadata__ must be an object of strings");
  expect_refused(file_of(R"({"__metadata__":{"step":3}})", ""), "__metadata__: \"step\" must be a string, found 3");
}

TEST_F(SafetensorsTest, WritingRefusesWhatCannotBeRead) {
  const Tensor one = tensor_of<float>(Shape{1}, {1.0f});
  EXPECT_EQ(error_of([&] {
              write_safetensors(path_, {{"a", one}, {"a", one}});
            }),
            "Cannot write " + path_.string() + ": two tensors are called \"a\"");
  EXPECT_TRUE(contains(error_of([&] {
                         write_safetensors(path_, {{"a", Tensor()}});
                       }),
                       "the tensor \"a\" has no value"));
  EXPECT_TRUE(contains(error_of([&] { write_safetensors(path_, {{"__metadata__", one}}); }), "__metadata__"));
  EXPECT_EQ(number_of_files(), 0u);
}

// Every byte a tensor claims to have can be read.
TEST_F(SafetensorsTest, DamagedFilesOnlyThrowErrors) {
  write_safetensors(path_, {{"weight", tensor_of<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6})},
                            {"ids", tensor_of<std::int64_t>(Shape{2}, {1, 2})},
                            {"mask", tensor_of<std::uint8_t>(Shape{3}, {0, 1, 1})}});
  const std::string valid = read_file(path_);
  std::mt19937 random(3);
  unsigned sum = 0;
  int intact = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = valid;
    if (i % 4 == 0) damaged.resize(random() % valid.size());
    const unsigned flips = i % 4 == 0 ? 0 : 1 + random() % 3;
    for (unsigned flip = 0; flip < flips; ++flip) damaged[random() % damaged.size()] ^= 1 << random() % 8;
    std::FILE* out = std::fopen(path_.c_str(), "wb");  // faster than replace_file
    std::fwrite(damaged.data(), 1, damaged.size(), out);
    std::fclose(out);
    try {
      const Safetensors file = Safetensors::open(path_);
      for (const std::string& name : file.names()) {
        const Tensor tensor = file.tensor(name);
        for (std::size_t at = 0; at < tensor.bytes(); ++at) sum += static_cast<const std::uint8_t*>(tensor.raw())[at];
      }
      ++intact;
    } catch (const Error& error) {
      ASSERT_TRUE(contains(error.what(), path_.string())) << error.what();
    }
  }
  EXPECT_GT(intact, 0);
  EXPECT_LT(intact, 4000);
  EXPECT_GT(sum, 0u);
}

}  // namespace
}  // namespace hearth::io
