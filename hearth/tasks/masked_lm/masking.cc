#include "hearth/tasks/masked_lm/masking.h"

#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/random.h"
#include "hearth/data/sampler.h"

namespace hearth::tasks {
namespace {

constexpr float kMaskShare = 0.8f, kRandomShareOfRest = 0.5f;
constexpr std::string_view kContinuation = "##";
constexpr double kMostInSequence = 512;  // tokens that DataCollatorForWholeWordMask chooses

// torch.bernoulli: a number in [0, 1) of 24 bits.
bool happens(float probability, std::mt19937& random) {
  constexpr std::uint32_t kBits = 0xFFFFFF;
  return static_cast<float>(random() & kBits) * 0x1p-24f < probability;
}

std::vector<bool> happens_for_each(std::size_t count, float probability, std::mt19937& random) {
  std::vector<bool> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = happens(probability, random);
  return result;
}

}  // namespace

Masking::Masking(const tokenizer::Tokenizer& tokenizer, const MaskingOptions& options)
    : options_(options), vocab_size_(static_cast<std::uint32_t>(tokenizer.vocab_size())) {
  const std::optional<std::int32_t> mask = tokenizer.special("mask");
  check(mask.has_value(),
        "the tokenizer has no mask token, which masked language modelling needs: choose another model, or another "
        "--tokenizer_name");
  mask_id_ = *mask;
  is_special_.resize(vocab_size_);
  for (const std::int32_t id : tokenizer.special_ids()) is_special_[static_cast<std::size_t>(id)] = true;
  if (!options.whole_words) return;
  for (std::uint32_t id = 0; id < vocab_size_; ++id) {
    const std::string token = tokenizer.token(static_cast<std::int32_t>(id));
    continues_word_.push_back(token.starts_with(kContinuation));
    surrounds_text_.push_back(token == "[CLS]" || token == "[SEP]");
  }
  if (std::ranges::find(continues_word_, true) == continues_word_.end())
    log_warning(
        "--whole_word_mask: this tokenizer does not mark the inside of words with {}, as BERT's does, so each token "
        "counts as a word",
        kContinuation);
}

std::vector<bool> Masking::choose_words(std::span<const std::int32_t> ids, std::mt19937& random) const {
  std::vector<std::vector<std::size_t>> words;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(ids[i]);
    if (surrounds_text_[id]) continue;
    if (words.empty() || !continues_word_[id]) words.emplace_back();
    words.back().push_back(i);
  }
  const double share = std::nearbyint(options_.probability * static_cast<double>(ids.size()));
  const auto most = static_cast<std::size_t>(std::clamp(share, 1.0, kMostInSequence));
  std::vector<bool> chosen(ids.size());
  std::size_t count = 0;
  for (const std::int64_t word : data::random_order(std::ssize(words), random)) {
    const std::vector<std::size_t>& tokens = words[static_cast<std::size_t>(word)];
    if (count + tokens.size() > most) continue;
    count += tokens.size();
    for (const std::size_t token : tokens) chosen[token] = true;
  }
  return chosen;
}

MaskedSequence Masking::operator()(std::span<const std::int32_t> ids, std::mt19937& random) const {
  const std::vector<bool> chosen = options_.whole_words
                                       ? choose_words(ids, random)
                                       : happens_for_each(ids.size(), static_cast<float>(options_.probability), random);
  const std::vector<bool> masked = happens_for_each(ids.size(), kMaskShare, random);
  const std::vector<bool> replaced = happens_for_each(ids.size(), kRandomShareOfRest, random);
  MaskedSequence result{{ids.begin(), ids.end()}, std::vector(ids.size(), kNotMasked)};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto any = static_cast<std::int32_t>(random() % vocab_size_);
    if (!chosen[i] || is_special_[static_cast<std::size_t>(ids[i])]) continue;
    result.labels[i] = ids[i];
    if (masked[i]) {
      result.ids[i] = mask_id_;
    } else if (replaced[i]) {
      result.ids[i] = any;
    }
  }
  return result;
}

std::mt19937 mask_generator(std::int64_t seed, std::int64_t epoch, std::int64_t item) {
  return std::mt19937(
      philox_key(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(item))
          .lo);
}

}  // namespace hearth::tasks
