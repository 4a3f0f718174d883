#include "hearth/io/npy.h"

#include "hearth/io/file.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

class Npy : public TemporaryFolder {};

TEST_F(Npy, WritesAndReadsTheBytesOfNumPy) {
  const Tensor matrix = Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  write_npy(folder_ / "m.npy", matrix);
  const std::string bytes = read_file(folder_ / "m.npy");
  EXPECT_EQ(bytes.size(), 128 + 24);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00v\x00", 10));
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  const Tensor read = read_npy(folder_ / "m.npy");
  EXPECT_EQ(read.shape(), (Shape{2, 3}));
  EXPECT_EQ(read.data<float>()[5], 6);
}

TEST_F(Npy, OtherFilesAreErrors) {
  const auto error = [&](std::string_view contents) {
    write("m.npy", contents);
    return error_of([&] { read_npy(folder_ / "m.npy"); });
  };
  const auto with = [](const std::string& dict, std::size_t bytes) {
    std::string text("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(dict.size());
    text += '\0';
    return text + dict + std::string(bytes, '\0');
  };
  EXPECT_TRUE(contains(error("index,embedding\n1,2,3"), "is not a NumPy .npy file"));
  EXPECT_TRUE(contains(error(with("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }   \n", 8)),
                       "must hold float32 numbers row by row"));
  EXPECT_TRUE(contains(error(with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }     \n", 12)),
                       "must hold a matrix with two dimensions"));
  EXPECT_TRUE(contains(error(with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }  \n", 12)),
                       "its shape and its 12 bytes do not fit"));
}

}  // namespace
}  // namespace hearth::io
