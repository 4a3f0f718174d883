#include "hearth/optim/plateau.h"

#include <gtest/gtest.h>

#include "hearth/base/error.h"
#include "tests/optim/expected_values.h"

namespace hearth::optim {
namespace {

TEST(Plateau, HasTheLearningRatesOfTorch) {
  for (const auto& [options, learning_rates] : expected::kPlateaus) {
    Plateau plateau(options, expected::kInitialLr);
    EXPECT_EQ(plateau.lr(), expected::kInitialLr);
    for (std::size_t i = 0; i < learning_rates.size(); ++i) {
      plateau.take(expected::kPlateauMetrics[i]);
      EXPECT_EQ(plateau.lr(), learning_rates[i]) << "row " << (&options - &expected::kPlateaus[0].options) << ", " << i;
    }
  }
}

TEST(Plateau, GoesOnFromItsState) {
  for (const auto& [options, learning_rates] : expected::kPlateaus)
    for (std::size_t stop = 0; stop < learning_rates.size(); ++stop) {
      Plateau first(options, expected::kInitialLr), second(options, 1);
      for (std::size_t i = 0; i < stop; ++i) first.take(expected::kPlateauMetrics[i]);
      second.restore(first.state());
      for (std::size_t i = stop; i < learning_rates.size(); ++i) {
        second.take(expected::kPlateauMetrics[i]);
        EXPECT_EQ(second.lr(), learning_rates[i]) << stop << ", " << i;
      }
    }
}

TEST(Plateau, RefusesWhatItDoesNotKnow) {
  const auto error = [](auto set) -> std::string {
    PlateauOptions options;
    set(options);
    try {
      const Plateau plateau(options, 1);
    } catch (const Error& thrown) {
      return thrown.what();
    }
    return "";
  };
  EXPECT_EQ(error([](PlateauOptions&) {}), "");
  EXPECT_EQ(error([](PlateauOptions& options) { options.mode = "best"; }),
            "reduce_lr_on_plateau: mode 'best' is not known; choose min or max");
  EXPECT_EQ(error([](PlateauOptions& options) { options.threshold_mode = "share"; }),
            "reduce_lr_on_plateau: threshold_mode 'share' is not known; choose rel or abs");
  EXPECT_EQ(error([](PlateauOptions& options) { options.factor = 1; }),
            "reduce_lr_on_plateau: factor must be below 1, not 1");
}

}  // namespace
}  // namespace hearth::optim
