#include "hearth/metrics/metrics.h"

#include <cmath>
#include <limits>

#include "hearth/io/json.h"
#include "hearth/metrics/metrics_json.h"
#include "tests/support.h"

namespace hearth {
namespace {

std::vector<std::string> names_of(const Metrics& metrics) {
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics) names.push_back(name);
  return names;
}

TEST(Metrics, KeepTheOrderInWhichTheyWereAdded) {
  Metrics metrics;
  EXPECT_TRUE(metrics.empty());
  metrics.set("z", 1);
  metrics.set("a", 2.5);
  metrics.set("m", std::size_t{3});
  metrics.set("z", 4.5);
  EXPECT_EQ(metrics.size(), 3u);
  EXPECT_EQ(names_of(metrics), (std::vector<std::string>{"z", "a", "m"}));
  EXPECT_EQ(metrics.at("z"), 4.5);
  EXPECT_EQ(metrics.at("m"), 3.0);
}

TEST(Metrics, FindNames) {
  const Metrics metrics{{"f1", 0.5}};
  EXPECT_TRUE(metrics.contains("f1"));
  EXPECT_FALSE(metrics.contains("f"));
  EXPECT_EQ(metrics.find("f1"), 0.5);
  EXPECT_EQ(metrics.find("loss"), std::nullopt);
  EXPECT_EQ(error_of([&] { metrics.at("loss"); }), "there is no metric loss; the metrics are [f1]");
}

TEST(Metrics, NumbersKeepTheirKind) {
  const Metrics metrics{{"count", std::int64_t{408}}, {"whole", 408.0}, {"float", 0.5f}};
  auto entry = metrics.begin();
  EXPECT_TRUE(entry->second.is_integer());
  EXPECT_EQ(entry->second.as_integer(), 408);
  EXPECT_EQ(entry->second.as_double(), 408.0);
  ++entry;
  EXPECT_FALSE(entry->second.is_integer());
  EXPECT_EQ(error_of([&] { entry->second.as_integer(); }), "408 is not an integer");
  EXPECT_FALSE(Number(408) == Number(408.0));
  EXPECT_EQ(metrics.at("float"), 0.5);
}

TEST(Metrics, UpdateReplacesInPlaceAndAppends) {
  Metrics metrics{{"loss", 1.0}, {"epoch", 1.0}};
  metrics.update({{"epoch", 2.0}, {"f1", 0.5}});
  EXPECT_EQ(metrics, (Metrics{{"loss", 1.0}, {"epoch", 2.0}, {"f1", 0.5}}));
  metrics.update(metrics);
  EXPECT_EQ(metrics.size(), 3u);
}

TEST(Metrics, Erase) {
  Metrics metrics{{"loss", 1.0}, {"epoch", 1.0}};
  EXPECT_TRUE(metrics.erase("loss"));
  EXPECT_FALSE(metrics.erase("loss"));
  EXPECT_EQ(metrics, (Metrics{{"epoch", 1.0}}));
}

TEST(Metrics, PrefixAndSuffix) {
  const Metrics metrics{{"loss", 1.0}, {"samples", 3}};
  EXPECT_EQ(metrics.with_prefix("eval_"), (Metrics{{"eval_loss", 1.0}, {"eval_samples", 3}}));
  EXPECT_EQ(metrics.with_suffix("_mm"), (Metrics{{"loss_mm", 1.0}, {"samples_mm", 3}}));
}

TEST(MetricsJson, WritesIntegersAndDoublesAsPython) {
  const Metrics metrics{{"samples", 408}, {"accuracy", 0.81}, {"threshold", 0.0}, {"nan", std::nan("")}};
  EXPECT_EQ(io::dump_json(to_json(metrics), io::kOneLine),
            R"({"samples": 408, "accuracy": 0.81, "threshold": 0.0, "nan": NaN})");
  EXPECT_EQ(io::dump_json(to_json({}), io::kOneLine), "{}");
}

TEST(MetricsJson, ReadsWhatItWrote) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Metrics metrics{{"samples", -408}, {"threshold", 0.0}, {"third", 1.0 / 3}, {"infinity", infinity}};
  const std::string text = io::dump_json(to_json(metrics), 4);
  EXPECT_EQ(metrics_from_json(io::parse_json(text, "x.json"), "x.json"), metrics);
  const std::string nan = io::dump_json(to_json({{"pearson", std::nan("")}}), 4);
  EXPECT_TRUE(std::isnan(metrics_from_json(io::parse_json(nan, "x.json"), "x.json").at("pearson")));
}

TEST(MetricsJson, RefusesOtherValues) {
  const auto error = [](const char* text) {
    return error_of([&] { metrics_from_json(io::parse_json(text, "x.json"), "x.json"); });
  };
  EXPECT_EQ(error(R"({"f1": 0.5, "best": true})"), "x.json: the metric best is not a number but true");
  EXPECT_EQ(error(R"({"f1": null})"), "x.json: the metric f1 is not a number but null");
  EXPECT_EQ(error("[1]"), "x.json: expected an object of metrics, found [1]");
}

TEST(Metrics, ToStringIsAPythonDict) {
  EXPECT_EQ((Metrics{{"accuracy", 0.75}, {"f1", 0.0}, {"samples", 408}}).to_string(),
            "{'accuracy': 0.75, 'f1': 0.0, 'samples': 408}");
}

}  // namespace
}  // namespace hearth
