#include "hearth/data/feature_store.h"

#include "tests/support.h"

namespace hearth::data {
namespace {

struct Words {
  Array<std::int64_t> starts{0};
  Array<std::int32_t> ids;
  Array<float> none;

  auto arrays() { return std::tie(starts, ids, none); }
  auto arrays() const { return std::tie(starts, ids, none); }
  void add(const std::vector<std::int32_t>& row) {
    ids.append(row);
    starts.push_back(static_cast<std::int64_t>(ids.size()));
  }
};

using FeatureStores = TemporaryFolder;

TEST_F(FeatureStores, JoinPartsInAFile) {
  FeatureStore<Words> store(folder_);
  Words all;
  for (int part = 0; part < 3; ++part) {
    Words words;
    for (int row = 0; row < 2 * part; ++row) {
      const std::vector<std::int32_t> ids(static_cast<std::size_t>(row), part);
      words.add(ids);
      all.add(ids);
    }
    store.append(words);
  }
  Words joined = store.finish();
  EXPECT_EQ(joined.starts, all.starts);
  EXPECT_EQ(joined.ids, all.ids);
  EXPECT_TRUE(joined.ids.is_mapped());
  EXPECT_TRUE(joined.none.empty());
  joined.ids.release(0, joined.ids.size());
  EXPECT_EQ(joined.ids, all.ids);
  joined.ids.shrink(2);
  EXPECT_EQ(joined.ids.size(), 2u);
}

TEST_F(FeatureStores, MayStayEmpty) {
  const Words words = FeatureStore<Words>(folder_).finish();
  EXPECT_EQ(words.starts, (Array<std::int64_t>{0}));
  EXPECT_TRUE(words.ids.empty());
}

}  // namespace
}  // namespace hearth::data
