// Dropout's masks that attention's forward keeps for backward.

#include <gtest/gtest.h>

#include <vector>

#include "hearth/cpu/parallel.h"
#include "tests/kernels/attention_problem.h"

namespace hearth::kernels {
namespace {

using namespace attention_tests;

// Memory for the masks of a problem, with a guard on either side.
class MaskMemory {
 public:
  MaskMemory(std::int64_t bytes, std::uint16_t fill)
      : words_(static_cast<std::size_t>(bytes) / sizeof(std::uint16_t) + 2 * kGuard, kCanary) {
    this->fill(fill);
  }

  std::uint16_t* data() { return words_.data() + kGuard; }
  std::vector<std::uint16_t> contents() const { return {words_.begin() + kGuard, words_.end() - kGuard}; }
  void fill(std::uint16_t word) { std::fill(words_.begin() + kGuard, words_.end() - kGuard, word); }
  bool canaries_live() const {
    const auto is_canary = [](std::uint16_t word) { return word == kCanary; };
    return std::all_of(words_.begin(), words_.begin() + kGuard, is_canary) &&
           std::all_of(words_.end() - kGuard, words_.end(), is_canary);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::uint16_t kCanary = 0x5a5a;
  std::vector<std::uint16_t> words_;
};

// The implementations that keep dropout's decisions, the emulated one included.
template <class Test>
void for_each_impl_with_masks(const Test& test) {
  for_each_fast_impl([&](const AttentionImpl& impl, DType type) {
    if (impl.mask_bytes != nullptr) test(impl, type);
  });
}

TEST(Attention, KeptMasksChangeNoBit) {
  for_each_impl_with_masks([](const AttentionImpl& impl, DType type) {
    std::vector<Setting> settings;
    for (const std::int64_t length : {1, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 193, 256, 257, 391})
      settings.push_back({.lengths = {length}, .keys = {length}, .dim = 16, .type = type, .dropout = 0.1f});
    for (const float dropout : {0.0f, 1e-7f, 0.1f, 0.5f})
      settings.push_back({.lengths = {40, 1, 0, 140, 7, 600, 23},
                          .keys = {33, 1, 0, 131, 1, 513, 23},
                          .heads = 3,
                          .dim = 12,
                          .type = type,
                          .dropout = dropout,
                          .gap = 3});
    for (const std::int64_t heads : {2, 3})
      settings.push_back({.lengths = {1, 9, 16, 17, 4},
                          .keys = {1, 9, 12, 17, 4},
                          .heads = heads,
                          .dim = 32,
                          .type = type,
                          .dropout = 0.1f});
    settings.push_back({.lengths = {}, .keys = {}, .type = type, .dropout = 0.1f});
    for (const Setting& setting : settings) {
      SCOPED_TRACE(setting.text());
      Problem again(setting);
      run(impl, again);
      for (const int threads : {1, 8}) {
        cpu::set_num_threads(threads);
        Problem kept(setting);
        const std::int64_t bytes = impl.mask_bytes(kept.args());
        EXPECT_EQ(bytes > 0, setting.dropout > 0 && !setting.lengths.empty());
        MaskMemory masks(bytes, 0xffff), others(bytes, 0);
        AttentionArgs args = kept.args();
        args.masks = others.data();
        impl.forward(args);
        args.masks = masks.data();
        impl.forward(args);
        impl.backward(args, kept.grads());
        EXPECT_EQ(kept.out.bytes(), again.out.bytes());
        EXPECT_EQ(kept.lse.bytes(), again.lse.bytes());
        EXPECT_EQ(kept.dqkv.bytes(), again.dqkv.bytes());
        EXPECT_EQ(masks.contents(), others.contents()) << "forward leaves masks unwritten";
        EXPECT_TRUE(masks.canaries_live() && others.canaries_live());
        EXPECT_TRUE(kept.canaries_live());
      }
      cpu::set_num_threads(0);
    }
  });
}

// P with all elements dropped has no part in dV.
TEST(Attention, BackwardReadsTheKeptMasks) {
  for_each_impl_with_masks([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {200, 30}, .keys = {190, 30}, .heads = 2, .dim = 16, .type = type, .dropout = 0.1f});
    AttentionArgs args = problem.args();
    MaskMemory masks(impl.mask_bytes(args), 0xffff);
    args.masks = masks.data();
    impl.forward(args);
    masks.fill(0);
    impl.backward(args, problem.grads());
    for (std::int64_t i = 0; i < problem.tokens; ++i)
      for (std::int64_t j = 2 * problem.width; j < 3 * problem.width; ++j) ASSERT_EQ(problem.dqkv.at(i, j), 0);
  });
}

}  // namespace
}  // namespace hearth::kernels
