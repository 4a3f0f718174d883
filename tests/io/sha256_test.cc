#include "hearth/io/sha256.h"

#include "tests/support.h"

namespace hearth::io {
namespace {

using Sha256Test = TemporaryFolder;

// Known answers of FIPS 180-4 and of sha256sum.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheSame) {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string text(size, 'x');
    for (std::size_t cut = 0; cut <= size; cut += 13) {
      Sha256 hash;
      hash.update(std::string_view(text).substr(0, cut));
      hash.hex();  // asking does not disturb
      hash.update(std::string_view(text).substr(cut));
      ASSERT_EQ(hash.hex(), sha256_of(text)) << size << " cut at " << cut;
    }
  }
}

TEST_F(Sha256Test, OfFile) { EXPECT_EQ(sha256_of_file(write("f", "abc")), sha256_of("abc")); }

}  // namespace
}  // namespace hearth::io
