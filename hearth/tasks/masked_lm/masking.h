#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct MaskingOptions {
  double probability = 0.15;  // of a token to be chosen
  bool whole_words = false;
};

inline constexpr std::int64_t kNotMasked = -100;

// A sequence as the model reads it, and its labels: the former token where one was chosen, kNotMasked elsewhere.
struct MaskedSequence {
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> labels;
};

// Chooses tokens of a sequence, never special ones, and replaces 80 % of them by the mask token and 10 % by any token;
// the rest stay. The bits are those of transformers' DataCollatorForLanguageModeling(seed=S) for a batch of this one
// sequence: a row of random numbers for each of choosing, masking, replacing, and the tokens. With whole words they are
// those of DataCollatorForWholeWordMask(seed=S) of transformers 4.57: a token and the "##" tokens behind it are chosen
// together, in the order of torch.randperm, as long as probability x length tokens are not exceeded. As there, other
// tokenizers have words of one token, and the special tokens around a text count as words unless they are "[CLS]" and
// "[SEP]".
class Masking {
 public:
  // An Error if the tokenizer has no mask token; a warning if it has no "##" tokens where whole words are asked for.
  Masking(const tokenizer::Tokenizer& tokenizer, const MaskingOptions& options);

  // `random` has been seeded with S.
  MaskedSequence operator()(std::span<const std::int32_t> ids, std::mt19937& random) const;

 private:
  std::vector<bool> choose_words(std::span<const std::int32_t> ids, std::mt19937& random) const;

  MaskingOptions options_;
  std::int32_t mask_id_ = 0;
  std::uint32_t vocab_size_ = 0;
  std::vector<bool> is_special_;                       // by token
  std::vector<bool> continues_word_, surrounds_text_;  // by token; only with whole words
};

// The generator of an item's mask. Masks depend on these three numbers alone: neither on the batch nor on the ranks,
// and a run that is resumed goes on with the masks that it would have had. Evaluation has an epoch of its own.
inline constexpr std::int64_t kEvaluationEpoch = -1;
std::mt19937 mask_generator(std::int64_t seed, std::int64_t epoch, std::int64_t item);

}  // namespace hearth::tasks
