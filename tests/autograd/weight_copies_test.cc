#include "hearth/autograd/weight_copies.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hearth/autograd/parameter.h"
#include "hearth/base/dtype.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/rows/elementwise.h"

namespace hearth {
namespace {

using Layout = WeightForm::Layout;

constexpr WeightForm kF32{DType::f32}, kBf16{DType::bf16}, kF16{DType::f16};

std::vector<float> numbers_of(const Tensor& tensor) {
  std::vector<float> numbers(static_cast<std::size_t>(tensor.size()));
  kernels::convert(tensor.type(), tensor.raw(), DType::f32, numbers.data(), tensor.size());
  return numbers;
}

// Two parameters of which the second may be frozen.
class Copies : public testing::Test {
 protected:
  void allocate(bool frozen = false) {
    if (frozen) store_.freeze([](std::string_view name) { return name == "second"; });
    store_.allocate();
    for (Parameter* parameter : {&first_, &second_}) fill(*parameter, 0);
    store_.mark_changed();
  }
  // Numbers that bf16 rounds.
  static void fill(Parameter& parameter, int shift) {
    std::vector<float> numbers(static_cast<std::size_t>(parameter.shape.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 1 + static_cast<float>((i * 37 + static_cast<std::size_t>(shift)) % 512) / 512;
    kernels::convert(DType::f32, numbers.data(), parameter.master.type(), parameter.master.raw(),
                     parameter.master.size());
  }
  // What an optimizer does with the copies.
  void update(int shift) {
    for (Parameter* parameter : {&first_, &second_}) drop_unread_copies(*parameter);
    store_.mark_updated();
    for (Parameter* parameter : store_.trainable()) fill(*parameter, shift);
    for (Parameter* parameter : {&first_, &second_}) mark_copies_unread(*parameter);
  }
  static std::vector<float> rounded(const Parameter& parameter, DType type) {
    const Tensor copy(parameter.shape, type);
    kernels::convert(parameter.master.type(), parameter.master.raw(), type, copy.raw(), copy.size());
    return numbers_of(copy);
  }

  ParameterStore store_;
  Parameter &first_ = store_.add({{"first", {70, 33}, 0}}), &second_ = store_.add({{"second", {5, 70}, 0}});
};

TEST_F(Copies, TheStoredFormIsNoCopy) {
  allocate(true);
  for (Parameter* parameter : {&first_, &second_}) {
    EXPECT_EQ(acquire(*parameter).raw(), parameter->master.raw());
    EXPECT_EQ(acquire(*parameter, kF32).raw(), parameter->master.raw());
    EXPECT_TRUE(parameter->copies.empty());
  }
  second_.store_as(DType::f16);
  fill(second_, 0);
  EXPECT_EQ(acquire(second_, kF16).raw(), second_.master.raw());
  EXPECT_TRUE(second_.copies.empty());
}

TEST_F(Copies, ThereIsOnePerForm) {
  allocate();
  for (const WeightForm form : {kBf16, kF16, kBf16, kF16}) {
    const Tensor copy = acquire(first_, form);
    EXPECT_EQ(copy.type(), form.type);
    EXPECT_EQ(copy.shape(), first_.shape);
    EXPECT_EQ(numbers_of(copy), rounded(first_, form.type));
  }
  EXPECT_EQ(first_.copies.size(), 2u);
  EXPECT_TRUE(second_.copies.empty());
  EXPECT_NE(numbers_of(acquire(first_, kBf16)), numbers_of(first_.master));
}

TEST_F(Copies, OfAllStoredFormatsAreTheSame) {
  allocate(true);
  std::vector<float> exact(static_cast<std::size_t>(second_.shape.size()));
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = static_cast<float>(i % 128) - 60;  // in every format
  for (const DType stored : {DType::f32, DType::f16, DType::bf16}) {
    second_.store_as(stored);
    kernels::convert(DType::f32, exact.data(), stored, second_.master.raw(), second_.master.size());
    store_.mark_changed();
    for (const WeightForm form : {kF32, kF16, kBf16})
      EXPECT_EQ(numbers_of(acquire(second_, form)), exact) << name_of(stored) << " as " << name_of(form.type);
  }
}

TEST_F(Copies, PackedOnesDoNotDependOnTheStoredFormat) {
  allocate(true);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    if (kernels::choose_gemm(type).pack == nullptr) continue;
    for (const Layout layout : {Layout::packed, Layout::packed_transposed}) {
      std::vector<std::byte> expected;
      for (const DType stored : {DType::f32, DType::bf16}) {
        second_.store_as(stored);
        std::vector<float> numbers(static_cast<std::size_t>(second_.shape.size()));
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 100) - 50;
        kernels::convert(DType::f32, numbers.data(), stored, second_.master.raw(), second_.master.size());
        store_.mark_changed();
        second_.copies.clear();
        const Tensor& packed = acquire(second_, {type, layout});
        const auto* bytes = static_cast<const std::byte*>(packed.raw());
        const std::vector<std::byte> contents(bytes, bytes + packed.bytes());
        if (expected.empty()) expected = contents;
        EXPECT_EQ(contents.size(), expected.size());
        EXPECT_EQ(std::memcmp(contents.data(), expected.data(), expected.size()), 0) << name_of(type);
      }
    }
  }
}

TEST_F(Copies, FollowTheValues) {
  allocate();
  acquire(first_, kBf16);
  update(100);
  EXPECT_EQ(numbers_of(acquire(first_, kBf16)), rounded(first_, DType::bf16));
  fill(first_, 200);
  store_.mark_changed();
  EXPECT_EQ(numbers_of(acquire(first_, kBf16)), rounded(first_, DType::bf16));
  EXPECT_EQ(first_.copies.size(), 1u);
}

TEST_F(Copies, AreNotMadeAgainWhileTheValuesStayTheSame) {
  allocate(true);
  const void* before = acquire(second_, kBf16).raw();
  const std::uint64_t version = second_.copies[0].version;
  for (int step = 1; step <= 3; ++step) {
    update(step);
    EXPECT_EQ(acquire(second_, kBf16).raw(), before);
    EXPECT_EQ(second_.copies[0].version, version) << "an update leaves frozen parameters as they are";
  }
}

TEST_F(Copies, OfAnEvaluationInAnotherFormatAreDropped) {
  allocate(true);
  const auto step = [&](int shift) {
    for (Parameter* parameter : {&first_, &second_}) acquire(*parameter, kF32);
    update(shift);
  };
  step(1);
  const std::size_t before = cpu::pool_stats().in_use_bytes;
  for (Parameter* parameter : {&first_, &second_}) acquire(*parameter, kBf16);  // the evaluation
  EXPECT_GT(cpu::pool_stats().in_use_bytes, before);
  step(2);
  step(3);
  EXPECT_TRUE(first_.copies.empty());
  EXPECT_TRUE(second_.copies.empty());
  EXPECT_EQ(cpu::pool_stats().in_use_bytes, before);
}

TEST_F(Copies, ThatAreReadEveryStepStay) {
  allocate();
  for (int step = 1; step <= 3; ++step) {
    acquire(first_, kBf16);
    if (step == 1) acquire(first_, kF16);
    update(step);
    ASSERT_EQ(first_.copies.size(), step == 1 ? 2u : 1u);
    EXPECT_EQ(first_.copies[0].form, kBf16);
  }
}

}  // namespace
}  // namespace hearth
