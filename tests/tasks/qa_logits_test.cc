#include <gtest/gtest.h>

#include "hearth/tasks/question_answering/postprocess.h"
#include "tests/parallel/toy_team.h"

namespace hearth::tasks {
namespace {

// A batch of sequences of 1, 2, ... tokens, and logits that tell rank and place.
nn::ModelOutput output_of(Batch& batch, std::int64_t sequences, float first) {
  for (std::int64_t s = 0; s < sequences; ++s) {
    const std::vector<std::int32_t> ids(static_cast<std::size_t>(s + 1), 7);
    batch.append(ids, ids, 0);
  }
  nn::ModelOutput output;
  for (const char* name : {"start_logits", "end_logits"}) {
    Tensor values({batch.tokens()}, DType::f32);
    for (std::int64_t i = 0; i < values.size(); ++i) values.data<float>()[i] = first + static_cast<float>(i);
    first = -first;
    output.logits.emplace_back(name, Var(values));
  }
  return output;
}

TEST(QaLogits, AreGatheredFromATeam) {
  parallel::run_team(3, [](const parallel::Team& team) {
    ItemValues kept(5);
    Batch batch;
    if (team.rank() < 2) {  // the third has nothing to answer
      const std::vector<std::int64_t> items =
          team.is_first() ? std::vector<std::int64_t>{3, 0} : std::vector<std::int64_t>{1, 4, 2};
      const nn::ModelOutput output = output_of(batch, std::ssize(items), 10.0f * static_cast<float>(1 + team.rank()));
      for (std::size_t s = 0; s < items.size(); ++s)
        kept.set(items[s], kept_logits(static_cast<std::int64_t>(s), batch, output));
    }
    kept.gather(team);
    if (!team.is_first()) return;
    const std::vector<QaLogits> all = qa_logits(kept);
    const auto check_feature = [&](std::size_t feature, std::vector<float> starts, float first_end) {
      EXPECT_EQ(std::vector<float>(all[feature].start.begin(), all[feature].start.end()), starts);
      ASSERT_EQ(all[feature].end.size(), starts.size());
      EXPECT_EQ(all[feature].end[0], first_end);
    };
    check_feature(3, {10}, -10);
    check_feature(0, {11, 12}, -9);
    check_feature(1, {20}, -20);
    check_feature(4, {21, 22}, -19);
    check_feature(2, {23, 24, 25}, -17);
  });
}

}  // namespace
}  // namespace hearth::tasks
