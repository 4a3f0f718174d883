#include <cstdlib>

#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

namespace fs = std::filesystem;

TEST(GoldenTokenizer, GivesEveryIdAndOffset) {
  const char* root = std::getenv("HEARTH_GOLDENS_DIR");
  if (!root) GTEST_SKIP() << "HEARTH_GOLDENS_DIR is not set";
  int sets = 0;
  for (const auto& folder : fs::directory_iterator(fs::path(root) / "tokenizer")) {
    const io::Json json = io::read_json(folder.path() / "cases.json");
    const auto tokenizer = load_vocabulary(fs::path(root) / json["vocab"].get<std::string>(), json["lowercase"]);
    for (const io::Json& expected : json["cases"]) expect_case(*tokenizer, expected);
    ++sets;
  }
  EXPECT_GT(sets, 0);
}

}  // namespace
}  // namespace hearth::tokenizer
