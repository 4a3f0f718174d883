#include "hearth/metrics/entities.h"

#include <sstream>

#include "tests/metrics/expected_scores.h"

namespace hearth::metrics {
namespace {

using io::Json;
using Tags = std::vector<std::vector<std::string>>;

Tags sentences_of(const Json& lines) {
  Tags sentences;
  for (const std::string line : lines) {
    std::istringstream words(line);
    sentences.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return sentences;
}

void expect_entity_scores(const Json& item, TagMode mode) {
  const EntityScores scores = entity_scores(sentences_of(item["truth"]), sentences_of(item["predicted"]), mode);
  expect_scores(scores.overall, item["overall"]);
  EXPECT_EQ(scores.accuracy, item["accuracy"].get<double>());
  ASSERT_EQ(scores.types.size(), item["types"].size());
  auto expected = item["types"].begin();
  for (const EntityTypeScores& type : scores.types) {
    EXPECT_EQ(type.type, expected.key());
    expect_scores(type.scores, *expected);
    ++expected;
  }
}

Json to_json(const std::vector<Entity>& entities) {
  Json json = Json::array();
  for (const Entity& entity : entities) json.push_back({entity.type, entity.first, entity.last});
  return json;
}

Json entities_in(const Tags& sentences, TagMode mode = TagMode::lenient) {
  return to_json(find_entities(sentences, mode));
}

class Entities : public testing::Test {
 protected:
  const Json file_ = io::read_json(fixture("metrics/entities.json"));
};

TEST_F(Entities, ScoresAsSeqeval) {
  for_each_case(file_["lenient"], 260, [](const Json& item) { expect_entity_scores(item, TagMode::lenient); });
}

TEST_F(Entities, ScoresAsSeqevalInStrictMode) {
  for_each_case(file_["strict"], 62, [](const Json& item) { expect_entity_scores(item, TagMode::strict_iob2); });
}

TEST_F(Entities, AreThoseOfSeqeval) {
  int compared = 0;
  for_each_case(file_["lenient"], 260, [&](const Json& item) {
    if (!item.contains("entities")) return;
    EXPECT_EQ(entities_in(sentences_of(item["truth"])), item["entities"]);
    ++compared;
  });
  EXPECT_EQ(compared, 65);
}

TEST(FindEntities, StrictModeIgnoresAStrayI) {
  const Tags sentences{{"I-X", "B-X", "I-X", "I-Y", "I-Y"}, {"I-X", "B-Y"}};
  EXPECT_EQ(entities_in(sentences, TagMode::strict_iob2), Json({{"X", 1, 2}, {"Y", 7, 7}}));
  EXPECT_EQ(entities_in(sentences), Json({{"X", 0, 0}, {"X", 1, 2}, {"Y", 3, 4}, {"X", 6, 6}, {"Y", 7, 7}}));
}

TEST(FindEntities, AnEntityEndsWithItsSentence) {
  EXPECT_EQ(entities_in({{"B-X"}, {"I-X"}}), Json({{"X", 0, 0}, {"X", 2, 2}}));
  EXPECT_EQ(entities_in({{"B-X"}, {"I-X"}}, TagMode::strict_iob2), Json({{"X", 0, 0}}));
}

TEST(FindEntities, RefusesTagsThatAreNone) {
  EXPECT_EQ(error_of([] { entities_in({{""}}); }), "a tag of a token is empty; use O for tokens outside of entities");
  EXPECT_EQ(error_of([] { entities_in({{"\xff"}}); }), "a tag of a token is not valid UTF-8");
  EXPECT_EQ(error_of([] { entities_in({{"S-X"}}, TagMode::strict_iob2); }),
            "the tag S-X does not belong to IOB2, whose tags begin with B, I or O");
}

TEST(EntityScores, NeedAPredictionForEachTag) {
  EXPECT_EQ(error_of([] { entity_scores(Tags{{"O"}}, Tags{}); }), "there are 0 predicted sentences for 1 true ones");
  EXPECT_EQ(error_of([] {
              entity_scores(Tags{{"O"}, {"O"}}, Tags{{"O"}, {"O", "O"}});
            }),
            "sentence 1 has 1 tags, but 2 predicted ones");
  EXPECT_EQ(error_of([] { entity_scores(Tags{{}}, Tags{{}}); }), "scores of entities need at least one token");
}

TEST(EntityScores, AreZeroWithoutEntities) {
  const EntityScores scores = entity_scores(Tags{{"O", "O"}}, Tags{{"O", "O"}});
  EXPECT_EQ(scores.overall.f1, 0);
  EXPECT_EQ(scores.accuracy, 1);
  EXPECT_TRUE(scores.types.empty());
}

}  // namespace
}  // namespace hearth::metrics
