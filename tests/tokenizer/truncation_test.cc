// truncation="longest_first" against Hugging Face's tokenizers library.
#include <gtest/gtest.h>

#include "hearth/io/json.h"
#include "hearth/tokenizer/tokenizer.h"
#include "tests/support.h"

namespace hearth::tokenizer {
namespace {

std::shared_ptr<const Tokenizer> small_tokenizer() {
  return load_vocabulary(fixture("text_classification/model_pairs/vocab.txt"), true);
}

TEST(Truncation, LengthsOfPairs) {
  const io::Json rows = io::read_json(fixture("text_classification/truncated_lengths.json"));
  ASSERT_GT(rows.size(), 500u);
  for (const io::Json& row : rows) {
    const PairLengths before{row[0], row[1]}, kept{row[3], row[4]};
    const std::int64_t max_length = row[2];
    EXPECT_EQ(longest_first(before, max_length - 3), kept)
        << before.first << " and " << before.second << " tokens, max_length " << max_length;
  }
}

TEST(Truncation, TextsThatFitStayWhole) {
  EXPECT_EQ(longest_first({3, 4}, 7), (PairLengths{3, 4}));
  EXPECT_EQ(longest_first({0, 0}, 0), (PairLengths{0, 0}));
}

TEST(Truncation, OfOneText) {
  const auto tokenizer = small_tokenizer();
  const Encoding whole = tokenizer->encode("the ferry sold the bell."),
                 cut = tokenizer->encode_truncated("the ferry sold the bell.", 6);
  ASSERT_GT(whole.ids.size(), 6u);
  ASSERT_EQ(cut.ids.size(), 6u);
  EXPECT_TRUE(std::equal(cut.ids.begin(), cut.ids.end() - 1, whole.ids.begin()));
  EXPECT_EQ(cut.ids.back(), whole.ids.back());  // [SEP]
  EXPECT_EQ(cut.offsets.size(), 6u);
  EXPECT_EQ(tokenizer->encode_truncated("the ferry sold the bell.", 100).ids, whole.ids);
}

TEST(Truncation, OfPairs) {
  const auto tokenizer = small_tokenizer();
  const Encoding cut = tokenizer->encode_truncated("a a a a a a", "a a", 8);
  EXPECT_EQ(cut.type_ids, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(cut.sequence, (std::vector<std::int8_t>{-1, 0, 0, 0, -1, 1, 1, -1}));
}

TEST(Truncation, SpecialTokensMustFit) {
  const auto tokenizer = small_tokenizer();
  EXPECT_EQ(tokenizer->encode_truncated("a", 2).ids.size(), 2u);
  EXPECT_TRUE(contains(error_of([&] { tokenizer->encode_truncated("a", "a", 2); }),
                       "a maximum length of 2 has no room for the 3 special tokens"));
}

}  // namespace
}  // namespace hearth::tokenizer
