#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "hearth/nn/encoder.h"
#include "hearth/tensor/batch.h"

namespace hearth::bench {

// One number a line, each from 1 to `longest`.
std::vector<std::int64_t> read_lengths(const std::filesystem::path& file, std::int64_t longest);

// Batches for question answering: random ids, some much more frequent than others as the words of a text are, and
// random answers; sequences of one length or of given ones.
class Workload {
 public:
  // `lengths`: consecutive groups of `batch` of them, from the beginning again after the last; empty: all are `seq`.
  Workload(const nn::EncoderConfig& config, std::int64_t batch, std::int64_t seq, std::vector<std::int64_t> lengths);

  Batch next();

 private:
  std::int64_t next_length();
  std::int32_t random_id();

  std::int64_t vocab_size_, token_types_, batch_, seq_;
  std::int32_t padding_id_;
  std::vector<std::int64_t> lengths_;
  std::size_t at_ = 0;
  std::mt19937 random_{42};
};

}  // namespace hearth::bench
