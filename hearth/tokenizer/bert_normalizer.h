#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hearth/tokenizer/normalizer.h"

namespace hearth::tokenizer {

struct NormalizerOptions {
  bool clean_text = true;  // drop control characters, make every space a plain one
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents = {};  // unless set, follows lowercase
  bool lowercase = true;
};

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(NormalizerOptions options);

  const NormalizerOptions& options() const { return options_; }
  // A text may be normalised in parts cut before or after any ASCII character that is not kControl: nothing reaches
  // across.
  void normalize(Characters& characters) const override;
  bool changes(std::string_view text) const override;

 private:
  void clean(Characters& characters) const;
  void strip_accents(Characters& characters) const;

  NormalizerOptions options_;
  const std::uint32_t* traits_;
};

void make_lowercase(Characters& characters);

}  // namespace hearth::tokenizer
