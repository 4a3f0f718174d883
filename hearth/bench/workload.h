#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "hearth/nn/encoder.h"
#include "hearth/tensor/batch.h"

namespace hearth::bench {

// Reads one number per line, each from 1 to `longest`.
std::vector<std::int64_t> read_lengths(const std::filesystem::path& file, std::int64_t longest);

// Random batches: ids with the frequencies of words in a text, sequences of one length or of given lengths. Each
// sequence has a random answer and one of two labels; or, to be unmasked, 15 % of its tokens have themselves as labels.
class Workload {
 public:
  enum class Labels { of_sequences, of_masked_tokens };
  // `lengths`: each batch takes the next `batch` of them and starts over after the last; empty: all have `seq` tokens.
  Workload(const nn::TransformerConfig& config, std::int64_t batch, std::int64_t seq, std::vector<std::int64_t> lengths,
           Labels labels = Labels::of_sequences);

  Batch next();

 private:
  std::int64_t next_length();
  std::int32_t random_id();
  double random_share();  // in [0, 1)
  void add_sequence_labels(Batch& batch);
  void mask_tokens(Batch& batch);

  std::int64_t vocab_size_, token_types_, batch_, seq_;
  std::int32_t padding_id_;
  std::vector<std::int64_t> lengths_;
  Labels labels_;
  std::size_t at_ = 0;
  std::mt19937 random_{42};
};

}  // namespace hearth::bench
