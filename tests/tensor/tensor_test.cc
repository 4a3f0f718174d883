#include "hearth/tensor/tensor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/cpu/memory.h"

namespace hearth {
namespace {

Tensor counting(Shape shape) {
  Tensor tensor(shape, DType::f32);
  std::iota(tensor.data<float>(), tensor.data<float>() + tensor.size(), 0.0f);
  return tensor;
}

TEST(Tensor, IsUndefinedUntilItHasMemory) {
  EXPECT_FALSE(Tensor().defined());
  EXPECT_TRUE(Tensor({2}, DType::f32).defined());
  EXPECT_TRUE(Tensor({0, 5}, DType::f32).defined());
}

TEST(Tensor, IsAlignedAndOfItsSize) {
  for (const DType type : {DType::f32, DType::bf16, DType::i64, DType::u8}) {
    const Tensor tensor = Tensor::zeros({3, 5}, type);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw()) % cpu::kAlignment, 0u);
    EXPECT_EQ(tensor.bytes(), 15 * size_of(type));
    for (std::size_t i = 0; i < tensor.bytes(); ++i)
      ASSERT_EQ(static_cast<const std::byte*>(tensor.raw())[i], std::byte{0});
  }
}

TEST(Tensor, RefusesToBeReadAsAnotherFormat) {
  const Tensor tensor({2}, DType::bf16);
  EXPECT_NO_THROW(tensor.data<BFloat16>());
  EXPECT_THROW(tensor.data<float>(), Error);
}

TEST(Tensor, CopiesAndViewsShareMemory) {
  const Tensor tensor = counting({4, 3}), copy = tensor, rows = tensor.slice(1, 3), flat = rows.reshape({6});
  EXPECT_EQ(copy.raw(), tensor.raw());
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(flat.data<float>()[5], 8);
  flat.data<float>()[0] = -1;
  EXPECT_EQ(tensor.data<float>()[3], -1);
}

TEST(Tensor, ACloneIsOnItsOwn) {
  const Tensor tensor = counting({4}), clone = tensor.clone();
  tensor.fill_zero();
  EXPECT_EQ(clone.data<float>()[3], 3);
}

TEST(Tensor, ViewsKeepTheirMemoryAlive) {
  const std::size_t before = cpu::pool_stats().in_use_bytes;
  Tensor rows = counting({1000, 3}).slice(998, 1000);
  EXPECT_EQ(rows.data<float>()[5], 2999);
  EXPECT_GE(cpu::pool_stats().in_use_bytes, before + 12000);
  rows = Tensor();
  EXPECT_EQ(cpu::pool_stats().in_use_bytes, before);
}

TEST(Tensor, ViewsOthersMemory) {
  auto owner = std::make_shared<std::vector<float>>(6, 2.5f);
  const std::weak_ptr<std::vector<float>> alive = owner;
  Tensor view = Tensor::view_of(owner->data(), {2, 3}, DType::f32, owner);
  owner.reset();
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(view.slice(1, 2).data<float>()[2], 2.5f);
  view = Tensor();
  EXPECT_TRUE(alive.expired());
}

TEST(Tensor, SliceAndReshapeStayInside) {
  const Tensor tensor = counting({4, 3});
  EXPECT_EQ(tensor.slice(4, 4).size(), 0);
  EXPECT_THROW(tensor.slice(3, 5), Error);
  EXPECT_THROW(tensor.slice(-1, 2), Error);
  EXPECT_THROW(tensor.slice(3, 2), Error);
  EXPECT_THROW(tensor.reshape({5, 2}), Error);
}

TEST(Tensor, CopiesFromItsLikeOnly) {
  const Tensor tensor = counting({4});
  const Tensor target({4}, DType::f32);
  target.copy_from(tensor);
  EXPECT_EQ(target.data<float>()[2], 2);
  EXPECT_THROW(Tensor({2, 2}, DType::f32).copy_from(tensor), Error);
  EXPECT_THROW(Tensor({4}, DType::i32).copy_from(tensor), Error);
}

TEST(Tensor, ItemIsTheOneElementOfAnyFormat) {
  EXPECT_EQ(counting({1, 1}).item(), 0);
  for (const DType type : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i64, DType::i32, DType::u8})
    EXPECT_EQ(Tensor::zeros({}, type).item(), 0);
  Tensor number({1}, DType::f16);
  *number.data<Float16>() = Float16(1.5f);
  EXPECT_EQ(number.item(), 1.5f);
  EXPECT_THROW(counting({2}).item(), Error);
  EXPECT_THROW(Tensor().item(), Error);
}

TEST(Tensor, CopiesValuesOfAShape) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::of(values, {2, 3});
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor.data<float>()[4], 5);
  EXPECT_THROW(Tensor::of(values, {2, 2}), Error);
}

}  // namespace
}  // namespace hearth
