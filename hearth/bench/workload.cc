#include "hearth/bench/workload.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::bench {

std::vector<std::int64_t> read_lengths(const std::filesystem::path& file, std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  std::istringstream lines(io::read_file(file));
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    std::int64_t length = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
    check(error == std::errc() && end == line.data() + line.size() && length >= 1,
          "{}, line {}: '{}' is not a sequence length; give one whole number per line", file.string(), number, line);
    check(length <= longest, "{}, line {}: a sequence of {} tokens is longer than --seq {}", file.string(), number,
          length, longest);
    lengths.push_back(length);
  }
  check(!lengths.empty(), "{} has no lengths; give one number per line", file.string());
  return lengths;
}

Workload::Workload(const nn::TransformerConfig& config, std::int64_t batch, std::int64_t seq,
                   std::vector<std::int64_t> lengths, Labels labels)
    : vocab_size_(config.vocab_size),
      token_types_(config.token_types),
      batch_(batch),
      seq_(seq),
      padding_id_(config.padding_id),
      lengths_(std::move(lengths)),
      labels_(labels) {}

std::int64_t Workload::next_length() { return lengths_.empty() ? seq_ : lengths_[at_++ % lengths_.size()]; }

double Workload::random_share() {
  return static_cast<double>(random_()) / (static_cast<double>(std::mt19937::max()) + 1);
}

// Zipf's law: the frequency of the n-th word is proportional to 1/n.
std::int32_t Workload::random_id() {
  const double rank = std::pow(static_cast<double>(vocab_size_ + 1), random_share());  // from 1, below vocab_size_ + 1
  const auto id = static_cast<std::int32_t>(std::min(rank - 1, static_cast<double>(vocab_size_ - 1)));
  return id == padding_id_ ? (id + 1) % static_cast<std::int32_t>(vocab_size_) : id;
}

void Workload::add_sequence_labels(Batch& batch) {
  std::vector<std::int64_t> starts, ends, labels;
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    const std::int64_t length = batch.key_counts[static_cast<std::size_t>(s)];
    starts.push_back(static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(length)));
    ends.push_back(length - 1);
    labels.push_back(starts.back() % 2);
  }
  batch.labels = {
      {"start_positions", std::move(starts)}, {"end_positions", std::move(ends)}, {"labels", std::move(labels)}};
}

void Workload::mask_tokens(Batch& batch) {
  constexpr double kShare = 0.15;
  constexpr std::int64_t kMaskId = 103, kNoLabel = -100;  // of BERT
  std::vector<std::int64_t>& labels = batch.labels["labels"];
  for (std::int32_t& id : batch.input_ids) {
    const bool is_masked = random_share() < kShare;
    labels.push_back(is_masked ? id : kNoLabel);
    if (is_masked) id = static_cast<std::int32_t>(std::min(kMaskId, vocab_size_ - 1));
  }
}

Batch Workload::next() {
  Batch batch;
  for (std::int64_t s = 0; s < batch_; ++s) {
    const auto length = static_cast<std::size_t>(next_length());
    std::vector<std::int32_t> ids(length), types(length, 0);
    for (std::int32_t& id : ids) id = random_id();
    if (token_types_ > 1) std::fill(types.begin() + static_cast<std::ptrdiff_t>(length / 8), types.end(), 1);
    batch.append(ids, types, static_cast<std::uint32_t>(s));
  }
  labels_ == Labels::of_sequences ? add_sequence_labels(batch) : mask_tokens(batch);
  return batch;
}

}  // namespace hearth::bench
