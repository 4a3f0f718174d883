#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hearth {

// A prediction of an evaluation, for people to read.
struct SamplePrediction {
  std::string input;                // the text that the model saw, shortened by whoever shows it
  std::string question;             // about the input; empty: there is none
  std::string expected, predicted;  // "" is shown as nothing
  bool right = false;
};

// The numbers of up to `most` wrong items, then of up to `most` right ones, each kind spread evenly over all items.
std::vector<std::int64_t> sample_items(std::int64_t items, std::int64_t most,
                                       const std::function<bool(std::int64_t item)>& is_right);

}  // namespace hearth
