#include "hearth/report/event_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/report/event_reader.h"
#include "tests/support.h"

namespace hearth::report {
namespace {

using EventFileTest = TemporaryFolder;

TEST_F(EventFileTest, BeginsAsEveryEventFileDoes) {
  const EventFile file(folder_ / "runs");
  const std::string bytes = io::read_file(file.path());
  // A record of 24 bytes: its length, and the checksum that TensorFlow writes for this length.
  EXPECT_EQ(bytes.substr(0, 12), std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12));
  EXPECT_TRUE(file.path().filename().string().starts_with("events.out.tfevents."));
  const auto events = read_events(file.path());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_GT(events[0].wall_time, 1.6e9);
}

TEST_F(EventFileTest, HasScalarsTextsAndRestarts) {
  EventFile file(folder_);
  file.add_restart(7);
  file.add_text("args", "{\"seed\": 42}");
  const std::vector<std::pair<std::string, double>> row{{"train/loss", 1.25}, {"train/nan", std::nan("")}};
  file.add_scalars(1'000'000'000'000, row);
  const auto events = read_events(file.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_TRUE(events[1].is_restart);
  EXPECT_EQ(events[1].step, 7);
  EXPECT_EQ(events[2].texts.at("args/text_summary"), "{\"seed\": 42}");
  EXPECT_EQ(events[3].step, 1'000'000'000'000);
  EXPECT_EQ(events[3].scalars.at("train/loss"), 1.25f);
  EXPECT_TRUE(std::isnan(events[3].scalars.at("train/nan")));
}

TEST_F(EventFileTest, AChangedByteIsFound) {
  const EventFile file(folder_);
  std::string bytes = io::read_file(file.path());
  bytes[15] ^= 1;
  io::replace_file(file.path(), bytes);
  EXPECT_EQ(error_of([&] { read_events(file.path()); }), "checksum of a record");
}

// Every value lies in the bucket that its limits say.
TEST(HistogramTest, CountsEveryFiniteValue) {
  std::vector<float> values{0, -0.0f, 1, 1, -1, 2.5f, -1e-30f, 1e30f, 3e-45f, std::numeric_limits<float>::max()};
  for (int i = 0; i < 5000; ++i)
    values.push_back(std::sin(static_cast<float>(i)) * std::exp2f(static_cast<float>(i % 40 - 30)));
  const Histogram histogram = histogram_of(values);
  ASSERT_EQ(histogram.limits.size(), histogram.counts.size());
  EXPECT_EQ(histogram.count, static_cast<double>(values.size()));
  EXPECT_EQ(histogram.min, double{*std::ranges::min_element(values)});
  EXPECT_EQ(histogram.max, double{std::numeric_limits<float>::max()});
  double below = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < histogram.limits.size(); ++i) {
    const double limit = histogram.limits[i];
    ASSERT_LT(below, limit);
    double expected = 0;
    const bool is_negative = limit <= 0, is_last = i + 1 == histogram.limits.size();
    for (const double value : values)  // a negative bucket has its upper limit, a positive one its lower
      expected += is_negative ? value > below && value <= limit && value != 0
                              : value >= std::max(0.0, below) && (value < limit || (is_last && value <= limit));
    EXPECT_EQ(histogram.counts[i], expected) << below << " to " << limit;
    below = limit;
  }
}

TEST(HistogramTest, LeavesOutWhatIsNotFinite) {
  const std::vector<float> values{std::nanf(""), 2, std::numeric_limits<float>::infinity()};
  const Histogram histogram = histogram_of(values);
  EXPECT_EQ(histogram.count, 1);
  EXPECT_EQ(histogram.sum, 2);
  EXPECT_EQ(histogram.sum_of_squares, 4);
  EXPECT_EQ(histogram_of({}).count, 0);
}

TEST_F(EventFileTest, HasHistograms) {
  EventFile file(folder_);
  const std::vector<float> values{-2, 1, 1, 4};
  file.add_histogram(3, "gradients/x", histogram_of(values));
  const ProtoFields proto = read_events(file.path()).at(1).histograms.at("gradients/x");
  EXPECT_EQ(proto.number<double>(1), -2);
  EXPECT_EQ(proto.number<double>(2), 4);
  EXPECT_EQ(proto.number<double>(3), 4);
  EXPECT_EQ(proto.number<double>(4), 4);
  EXPECT_EQ(proto.number<double>(5), 22);
  EXPECT_EQ(proto.text(6).size(), proto.text(7).size());
}

}  // namespace
}  // namespace hearth::report
