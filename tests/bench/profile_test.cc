#include "hearth/train/profile.h"

#include <algorithm>
#include <thread>

#include "hearth/base/log.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/workload.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/train/trainer.h"
#include "tests/bench/small_model.h"

namespace hearth::bench {
namespace {

void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

const Profiler::Total& total(const std::vector<Profiler::Total>& totals, std::string_view name) {
  const auto found = std::ranges::find(totals, name, &Profiler::Total::name);
  if (found == totals.end()) throw Error("no span of that name");
  return *found;
}

TEST(ProfilerTest, TimeInsideAnotherSpanIsNotCountedTwice) {
  Profiler profiler;
  {
    const Span outer("outer");
    for (int i = 0; i < 2; ++i) {
      const Span inner("inner");
      wait();
    }
  }
  const auto totals = profiler.totals();
  EXPECT_EQ(total(totals, "inner").calls, 2);
  EXPECT_GE(total(totals, "inner").seconds, 0.004);
  EXPECT_EQ(total(totals, "outer").calls, 1);
  ASSERT_EQ(profiler.events().size(), 3u);
  const Profiler::Event& outer = profiler.events().back();
  EXPECT_EQ(outer.name, "outer");
  EXPECT_NEAR(total(totals, "outer").seconds, outer.seconds - total(totals, "inner").seconds, 1e-9);
  EXPECT_GE(profiler.events().front().begin, outer.begin);
}

TEST(ProfilerTest, HiddenSpansCountAsTheOuterOnes) {
  Profiler profiler;
  {
    const Span outer("outer", Span::Inner::hidden);
    const Span inner("inner");
    wait();
  }
  { const Span after("after"); }
  EXPECT_EQ(profiler.totals().size(), 2u);
  EXPECT_GE(total(profiler.totals(), "outer").seconds, 0.002);
  EXPECT_EQ(total(profiler.totals(), "after").calls, 1);
}

TEST(ProfilerTest, RecordsItsOwnThreadWhileItLives) {
  { const Span before("before"); }
  Profiler profiler;
  std::thread([] { const Span elsewhere("elsewhere"); }).join();
  EXPECT_TRUE(profiler.totals().empty());
  EXPECT_TRUE(contains(error_of([] { Profiler second; }), "has one already"));
}

TEST(ProfilerTest, SomeSpansAreShownEvenIfHidden) {
  Profiler profiler;
  {
    const Span outer("outer", Span::Inner::hidden);
    { const Span inner("inner"); }
    {
      const Span shown("shown", Span::EvenIfHidden{});
      wait();
      const Span inside("inside");
    }
    const Span after("after");
  }
  EXPECT_EQ(profiler.totals().size(), 2u);
  EXPECT_GE(total(profiler.totals(), "shown").seconds, 0.002);
  EXPECT_LT(total(profiler.totals(), "outer").seconds, total(profiler.totals(), "shown").seconds);
}

TEST(ProfilerTest, RecordsOnlyWhileItIsAskedTo) {
  Profiler profiler;
  profiler.set_recording(false);
  { const Span span("unseen"); }
  Profiler::end_step();
  profiler.set_recording(true);
  { const Span span("seen"); }
  Profiler::end_step();
  EXPECT_EQ(profiler.totals().size(), 1u);
  EXPECT_EQ(profiler.steps(), 1);
}

// Each compute thread has a track of its own, with its part of every parallel region under the name of the span.
TEST(ProfilerTest, HasATrackPerThread) {
  cpu::set_num_threads(3);
  {
    const Span before("no profiler");
    cpu::parallel_for(100, [](std::int64_t) {});
  }
  {
    Profiler profiler(Profiler::Threads::all);
    {
      const Span op("op");
      cpu::parallel_for(100, [](std::int64_t) { wait(); });
    }
    const auto track = profiler_track("communication");
    { const TrackSpan span(track.get(), "all_reduce"); }
    EXPECT_EQ(profiler_track("communication"), track);
    const auto tracks = profiler.tracks();
    ASSERT_EQ(tracks.size(), 4u);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(tracks[i]->events().size(), 1u) << i;
      EXPECT_EQ(tracks[i]->events()[0].name, "op");
      EXPECT_GE(tracks[i]->totals()[0].seconds, 0.002);
      EXPECT_GE(tracks[i]->events()[0].begin, profiler.events()[0].begin);
    }
    EXPECT_EQ(tracks[0]->name(), "compute thread 1 (the main thread)");
    EXPECT_EQ(tracks[3]->totals()[0].name, "all_reduce");
    for (std::int64_t step = 0; step < Profiler::kTracedSteps; ++step) Profiler::end_step();
    { const TrackSpan span(track.get(), "all_reduce"); }
    EXPECT_EQ(track->events().size(), 1u);
    EXPECT_EQ(track->totals()[0].calls, 2);
  }
  Profiler own;  // without other threads
  cpu::parallel_for(100, [](std::int64_t) {});
  EXPECT_EQ(profiler_track("communication"), nullptr);
  EXPECT_TRUE(own.tracks().empty());
  cpu::set_num_threads(0);
}

TEST(ProfilerTest, KeepsSingleSpansOfTheFirstStepsOnly) {
  Profiler profiler;
  for (std::int64_t step = 0; step < 2 * Profiler::kTracedSteps; ++step) {
    { const Span span("step"); }
    Profiler::end_step();
  }
  EXPECT_EQ(profiler.steps(), 2 * Profiler::kTracedSteps);
  EXPECT_EQ(std::ssize(profiler.events()), Profiler::kTracedSteps);
  EXPECT_EQ(total(profiler.totals(), "step").calls, 2 * Profiler::kTracedSteps);
}

struct RandomData final : Dataset {
  explicit RandomData(const nn::TransformerConfig& config) : workload(config, 2, 12, {}) {}
  std::int64_t size() const override { return 6; }
  std::int64_t length(std::int64_t) const override { return 12; }
  BatchPtr collate(std::span<const std::int64_t>, std::uint32_t) const override {
    return shared_batch(workload.next());
  }

  mutable Workload workload;
};

TEST_F(SmallModel, TrainingWritesProfileAndTrace) {
  auto model = models::build_model(model_config(folder_.string()), models::HeadKind::question_answering, 42);
  const auto dataset = std::make_shared<const RandomData>(model->backbone_config());
  TrainingArguments args;
  args.output_dir = (folder_ / "out").string();
  args.per_device_train_batch_size = 2;
  args.num_train_epochs = 1;
  args.save_strategy = Strategy::no;
  args.disable_tqdm = true;
  args.profile = true;
  std::string logged;
  set_log_sink([&](LogLevel, std::string_view message) { logged += std::string(message) + "\n"; });
  Trainer(std::move(model), args, {.train_dataset = dataset}).train();
  set_log_sink({});
  EXPECT_TRUE(contains(logged, "linear forward"));

  const io::Json profile = io::read_json(folder_ / "out" / "profile.json");
  EXPECT_EQ(profile.at("steps"), 3);
  double seconds = 0, share = 0;
  for (const io::Json& op : profile.at("ops")) {
    seconds += op.at("seconds").get<double>();
    share += op.at("share").get<double>();
    if (op.at("op") == "attention backward") {
      EXPECT_EQ(op.at("calls"), 3 * 2);
    }
  }
  EXPECT_NEAR(seconds, profile.at("seconds").get<double>(), 1e-9);
  EXPECT_NEAR(share, 1, 1e-9);

  const io::Json events = io::read_json(folder_ / "out" / "trace.json").at("traceEvents");
  const auto count = [&](const char* name) {
    return std::ranges::count_if(events, [&](const io::Json& event) { return event.at("name") == name; });
  };
  for (const char* name : {"step", "forward", "backward", "optimizer", "gradient norm", "loss"})
    EXPECT_EQ(count(name), 3) << name;
  EXPECT_EQ(count("linear backward"), 3 * (3 * 2 + 1));
  for (const io::Json& event : events) {
    if (event.at("ph") != "X") continue;
    EXPECT_TRUE(event.at("ts").is_number() && event.at("dur").get<double>() >= 0);
  }
}

}  // namespace
}  // namespace hearth::bench
