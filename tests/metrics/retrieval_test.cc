#include "hearth/metrics/retrieval.h"

#include "tests/metrics/expected_scores.h"

namespace hearth::metrics {
namespace {

TEST(Retrieval, ScoresAsSentenceTransformers) {
  for_each_case(io::read_json(fixture("metrics/retrieval.json")), 9, [](const io::Json& item) {
    std::vector<RetrievedDocuments> queries;
    for (const io::Json& query : item["queries"]) {
      RetrievedDocuments found{std::vector<bool>(query["shown"].get<std::size_t>()), query["relevant"]};
      for (const io::Json& rank : query["ranks"]) found.is_relevant[rank.get<std::size_t>()] = true;
      queries.push_back(std::move(found));
    }
    const Metrics scores = retrieval_scores(queries);
    ASSERT_EQ(scores.size(), item["scores"].size());
    auto place = scores.begin();
    for (const auto& [name, value] : item["scores"].items()) {
      EXPECT_EQ(place->first, name);
      EXPECT_EQ(place->second.as_double(), value.get<double>()) << name;
      ++place;
    }
  });
}

TEST(Retrieval, NeedsAQuery) {
  EXPECT_TRUE(contains(error_of([] { retrieval_scores({}); }), "there are no queries"));
}

}  // namespace
}  // namespace hearth::metrics
