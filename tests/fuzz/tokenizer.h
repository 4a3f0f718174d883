// A tokenizer that a target has loaded, in use.
#pragma once

#include "hearth/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

namespace hearth::fuzz {

inline void use(const tokenizer::Tokenizer& tokenizer) {
  attempt([&] {
    const tokenizer::Encoding pair = tokenizer.encode("The  [MASK] caf\u00e9 [CLS]\u4e2d\n", "unaffordable!");
    tokenizer.decode(pair.ids, true);
    for (const std::int32_t id : pair.ids) tokenizer.token(id);
    tokenizer.encode_truncated("one two three", 4);
  });
  attempt([&] {
    const std::filesystem::path folder = scratch() / "saved";
    std::filesystem::create_directories(folder);
    tokenizer.save(folder);
    tokenizer::load_tokenizer(folder);
  });
}

}  // namespace hearth::fuzz
