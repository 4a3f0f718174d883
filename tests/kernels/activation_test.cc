#include "hearth/kernels/rows/activation.h"

#include <gtest/gtest.h>

#include <limits>

#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"

namespace hearth::kernels {
namespace {

constexpr Activation kActivations[] = {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu,
                                       Activation::tanh};

// How far a kernel may be off that computes in f32 and rounds the result: a 16-bit result whose exact value lies close
// to the middle between two numbers may become the other one.
double activation_error(DType type) { return type == DType::f32 ? 4 * unit_of(type) : unit_of(type); }

TEST(Activation, MatchesReference) {
  const OneThread one_thread;
  for (const Activation kind : kActivations) {
    for (const DType type : kFormats) {
      for (const std::int64_t n : sizes()) {
        Buffer x(type, n, 1, 3), dy(type, n, 2), y(type, n), dx(type, n), expected(type, n);
        activation_forward(kind, type, n, x.data(), y.data());
        reference::activation_forward(kind, type, n, x.data(), expected.data());
        expect_close(y, expected, activation_error(type), 1e-6, "activation_forward");
        activation_backward(kind, type, n, x.data(), dy.data(), dx.data());
        reference::activation_backward(kind, type, n, x.data(), dy.data(), expected.data());
        expect_close(dx, expected, 2 * unit_of(type), 1e-6, "activation_backward");
      }
    }
  }
}

TEST(Activation, GeluIsAccurateEverywhere) {
  std::vector<float> x;
  for (float v = -12; v < 12; v += 1.0f / 4096) x.push_back(v);
  x.insert(x.end(), {-1e4f, -100, -1e-30f, 0, 1e-30f, 100, 1e4f});
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<float> ones(x.size(), 1.0f);
  std::vector<float> y(x.size()), dx(x.size());
  for (const Activation kind : {Activation::gelu, Activation::gelu_tanh}) {
    activation_forward(kind, DType::f32, n, x.data(), y.data());
    activation_backward(kind, DType::f32, n, x.data(), ones.data(), dx.data());
    std::vector<float> expected_y(x.size()), expected_dx(x.size());
    reference::activation_forward(kind, DType::f32, n, x.data(), expected_y.data());
    reference::activation_backward(kind, DType::f32, n, x.data(), ones.data(), expected_dx.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(std::abs(y[i] - expected_y[i]), 3e-7f * std::abs(x[i])) << x[i];
      ASSERT_LE(std::abs(dx[i] - expected_dx[i]), 4e-7f) << x[i];
    }
    EXPECT_EQ(y[x.size() - 7], 0) << "of -10,000";
    EXPECT_EQ(y[x.size() - 1], 1e4f);
  }
}

TEST(Activation, WorksInPlace) {
  for (const Activation kind : kActivations) {
    for (const DType type : kFormats) {
      Buffer x(type, 1000, 1), y(type, 1000), dy(type, 1000, 2), dx(type, 1000);
      activation_forward(kind, type, 1000, x.data(), y.data());
      activation_backward(kind, type, 1000, x.data(), dy.data(), dx.data());
      activation_backward(kind, type, 1000, x.data(), dy.data(), dy.data());
      activation_forward(kind, type, 1000, x.data(), x.data());
      EXPECT_EQ(x, y);
      EXPECT_EQ(dy, dx);
    }
  }
}

TEST(Activation, BackwardIsTheDerivative) {
  constexpr float kStep = 1.0f / 128;
  for (const Activation kind : kActivations) {
    for (float x = -5.01f; x < 5; x += 0.09f) {
      const float ends[2] = {x - kStep, x + kStep}, one = 1;
      float values[2], slope;
      activation_forward(kind, DType::f32, 2, ends, values);
      activation_backward(kind, DType::f32, 1, &x, &one, &slope);
      ASSERT_NEAR((values[1] - values[0]) / (ends[1] - ends[0]), slope, 3e-4) << static_cast<int>(kind) << " at " << x;
    }
  }
}

// The limit of the activation there, never NaN. fp16 holds infinities in place of numbers that are too large for it.
TEST(Activation, OfInfinitiesIsTheLimit) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Activation kind : kActivations) {
    for (const DType type : kFormats) {
      Buffer x(type, 2), ones(type, 2), y(type, 2), dx(type, 2), expected(type, 2);
      x.set(0, -kInfinity);
      x.set(1, kInfinity);
      ones.set(0, 1);
      ones.set(1, 1);
      activation_forward(kind, type, 2, x.data(), y.data());
      reference::activation_forward(kind, type, 2, x.data(), expected.data());
      expect_close(y, expected, 0, 0, "activation_forward");
      activation_backward(kind, type, 2, x.data(), ones.data(), dx.data());
      reference::activation_backward(kind, type, 2, x.data(), ones.data(), expected.data());
      expect_close(dx, expected, 0, 0, "activation_backward");
      if (kind == Activation::none || kind == Activation::tanh) continue;
      EXPECT_EQ(y.at(0), 0);
      EXPECT_EQ(y.at(1), kInfinity);
      EXPECT_EQ(dx.at(0), 0);
      EXPECT_EQ(dx.at(1), 1);
    }
  }
}

TEST(Activation, KeepsNan) {
  for (const Activation kind : kActivations) {
    const float x[2] = {std::nanf(""), 1};
    float y[2];
    activation_forward(kind, DType::f32, 2, x, y);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_FALSE(std::isnan(y[1]));
    if (kind == Activation::none || kind == Activation::relu) continue;  // their derivatives do not read the number
    const float ones[2] = {1, 1};
    float dx[2];
    activation_backward(kind, DType::f32, 2, x, ones, dx);
    EXPECT_TRUE(std::isnan(dx[0]));
    EXPECT_FALSE(std::isnan(dx[1]));
  }
}

constexpr std::int64_t kTileRows = 3, kTileCols[] = {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 512};

TEST(FinishTile, AppliesBiasAndActivation) {
  for (const Activation kind : kActivations) {
    for (const DType type : kFormats) {
      for (const bool with_bias : {false, true}) {
        for (const bool with_before : {false, true}) {
          for (const bool accumulate : {false, kind == Activation::none}) {
            for (const std::int64_t cols : kTileCols) {
              const std::int64_t ld = cols + 5, ldy = cols + 2;
              Buffer tile(DType::f32, kTileRows * ld, 1), bias(DType::f32, cols, 2);
              Buffer y(type, kTileRows * ldy, 3), before(type, kTileRows * ldy, 4);
              Buffer expected_y = y, expected_before = before;
              TileEnd end{kind,      with_bias ? bias.floats() : nullptr,   type,
                          y.data(),  with_before ? before.data() : nullptr, ldy,
                          accumulate};
              finish_tile(end, kTileRows, cols, tile.floats(), ld);
              end.y = expected_y.data();
              end.before = with_before ? expected_before.data() : nullptr;
              reference::finish_tile(end, kTileRows, cols, tile.floats(), ld);
              expect_close(y, expected_y, activation_error(type), 1e-6, "finish_tile: y");
              expect_close(before, expected_before, 0, 0, "finish_tile: before");
            }
          }
        }
      }
    }
  }
}

TEST(FinishTile, MultipliesByTheSlopeAndAppliesTheActivationAgain) {
  for (const Activation kind : kActivations) {
    for (const DType type : kFormats) {
      for (const std::int64_t cols : kTileCols) {
        const std::int64_t ld = cols + 5, ldy = cols + 2;
        Buffer tile(DType::f32, kTileRows * ld, 1), y(type, kTileRows * ldy, 2);
        Buffer at(type, kTileRows * ldy, 3), activated(type, kTileRows * ldy, 4);
        Buffer expected_y = y, expected_activated = activated, in_place = at, y_beside = y;
        TileEnd end{.activation = kind, .type = type, .y = expected_y.data(), .ldy = ldy, .slope_at = at.data()};
        end.activated = expected_activated.data();
        reference::finish_tile(end, kTileRows, cols, tile.floats(), ld);

        end.y = y.data();
        end.activated = nullptr;
        finish_tile(end, kTileRows, cols, tile.floats(), ld);
        expect_close(y, expected_y, activation_error(type), 1e-6, "finish_tile: y");

        end.y = y_beside.data();
        end.activated = activated.data();
        finish_tile(end, kTileRows, cols, tile.floats(), ld);
        EXPECT_EQ(y_beside, y);
        expect_close(activated, expected_activated, activation_error(type), 1e-6, "finish_tile: activated");

        end.slope_at = end.activated = in_place.data();
        finish_tile(end, kTileRows, cols, tile.floats(), ld);
        EXPECT_EQ(y_beside, y);
        for (std::int64_t row = 0; row < kTileRows; ++row)
          for (std::int64_t col = 0; col < cols; ++col)
            ASSERT_EQ(in_place.at(row * ldy + col), activated.at(row * ldy + col));
      }
    }
  }
}

}  // namespace
}  // namespace hearth::kernels
