#include "hearth/parallel/gradient_reducer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/parallel/toy_team.h"
#include "tests/support.h"

namespace hearth::parallel {
namespace {

using Notes = std::vector<std::string>;

constexpr PartitionOptions kSmall{64, 256, false};  // with two ranks: 32 elements, then 64

// The calls that the first of two ranks makes to its group, and its own notes, in order.
Notes notes_of_first(const std::function<void(const Team&, Notes&)>& body, bool overlaps = true) {
  Notes first_notes;
  run_team(2, [&](const Team& team) {
    Notes notes;
    NotingGroup group(team.group(), notes);
    body(team_of(group, 0, overlaps), notes);
    if (team.is_first()) first_notes = notes;
  });
  return first_notes;
}

// One step of two ranks.
Notes one_step(const std::vector<std::int64_t>& sizes, DType wire, const std::function<bool(std::size_t)>& uses,
               const std::function<void(const Team&, const ToyParameters&)>& inspect, bool overlaps = true) {
  const auto step = [&](const Team& team, Notes& notes) {
    ToyParameters toy(sizes);
    const Partition partition(toy.store.size(), team.rank(), team.size(), kSmall);
    GradientReducer reducer(toy.store, team, partition, wire);
    toy.store.zero_grad();
    Tape tape;
    const Var loss = toy.forward(tape, static_cast<float>(team.rank()), uses, &notes);
    reducer.backward(tape, loss, 0.5f);
    notes.emplace_back("backward ended");
    reducer.finish();
    inspect(team, toy);
  };
  return notes_of_first(step, overlaps);
}

// 32 + 64 + 16 elements of arena, laid out last to first: w2 fills the first bucket, w1 the second.
TEST(GradientReducer, BucketsAreSentInOrderWhileBackwardRuns) {
  const Notes notes = one_step({16, 64, 32}, DType::f32, {}, [](const Team&, const ToyParameters& toy) {
    for (std::size_t k = 0; k < 3; ++k)
      for (std::int64_t i = 0; i < toy[k].grad.size(); ++i)
        EXPECT_EQ(toy.gradient(k, i), 0.5f * static_cast<float>(k + 1) * static_cast<float>(1 + 2 * i));
  });
  EXPECT_EQ(notes, Notes({"grad 2", "all_reduce 32 fp32", "grad 1", "all_reduce 64 fp32", "grad 0",
                          "all_reduce 16 fp32", "backward ended"}));
}

TEST(GradientReducer, BucketsAreSentAfterBackwardWhereNothingWouldHideThem) {
  const auto inspect = [](const Team&, const ToyParameters& toy) { EXPECT_EQ(toy.gradient(1, 1), 0.5f * 2 * 3); };
  const Notes notes = one_step({16, 64, 32}, DType::f32, {}, inspect, false);
  EXPECT_EQ(notes, Notes({"grad 2", "grad 1", "grad 0", "backward ended", "all_reduce 32 fp32", "all_reduce 64 fp32",
                          "all_reduce 16 fp32"}));
}

TEST(GradientReducer, ABucketWaitsForAllItHoldsAndForThoseBefore) {
  // w3 and half of w2 | the other half and w1 | w0.
  const Notes notes = one_step({16, 16, 32, 16}, DType::f32, {}, [](const Team&, const ToyParameters&) {});
  EXPECT_EQ(notes, Notes({"grad 3", "grad 2", "all_reduce 32 fp32", "grad 1", "all_reduce 32 fp32", "grad 0",
                          "all_reduce 16 fp32", "backward ended"}));
}

TEST(GradientReducer, UnusedParametersHaveNoGradientAndStopNobody) {
  const auto inspect = [](const Team&, const ToyParameters& toy) {
    for (std::int64_t i = 0; i < 32; ++i) EXPECT_EQ(toy.gradient(2, i), 0);
    EXPECT_EQ(toy.gradient(1, 1), 0.5f * 2 * 3);
  };
  const Notes notes = one_step(
      {16, 64, 32}, DType::f32, [](std::size_t k) { return k != 2; }, inspect);
  EXPECT_EQ(notes, Notes({"all_reduce 32 fp32", "grad 1", "all_reduce 64 fp32", "grad 0", "all_reduce 16 fp32",
                          "backward ended"}));
}

TEST(GradientReducer, RanksMayUseDifferentParameters) {
  run_team(2, [](const Team& team) {
    ToyParameters toy({16, 64, 32});
    const Partition partition(toy.store.size(), team.rank(), team.size(), kSmall);
    GradientReducer reducer(toy.store, team, partition, DType::f32);
    for (int step = 0; step < 3; ++step) {
      toy.store.zero_grad();
      Tape tape;
      const Var loss = toy.forward(tape, 1, [&](std::size_t k) { return team.rank() == 0 ? k != 1 : k != 2; });
      reducer.backward(tape, loss, 1);
      reducer.finish();
      EXPECT_EQ(toy.gradient(0, 3), 2 * 4.0f);
      EXPECT_EQ(toy.gradient(1, 3), 2 * 4.0f);
      EXPECT_EQ(toy.gradient(2, 3), 3 * 4.0f);
    }
  });
}

TEST(GradientReducer, HalfTheBytesInBf16) {
  const Notes notes = one_step({16, 64, 32}, DType::bf16, {}, [](const Team&, const ToyParameters& toy) {
    for (std::int64_t i = 0; i < 64; ++i) {
      const auto expected = static_cast<float>(1 + 2 * i);
      EXPECT_NEAR(toy.gradient(1, i), expected, expected / 128);
    }
  });
  EXPECT_EQ(std::ranges::count(notes, "all_reduce 64 bf16"), 1);
  EXPECT_EQ(std::ranges::count_if(notes, [](const std::string& note) { return note.ends_with("fp32"); }), 0);
}

TEST(GradientReducer, OneProcessSendsNothing) {
  Notes notes;
  const Team alone;
  NotingGroup group(alone.group(), notes);
  ToyParameters toy({16, 64, 32});
  const Partition partition(toy.store.size(), 0, 1, kSmall);
  GradientReducer reducer(toy.store, team_of(group), partition, DType::bf16);
  Tape tape;
  const Var loss = toy.forward(tape, 1.001f, [](std::size_t k) { return k != 0; });
  reducer.backward(tape, loss, 1);
  reducer.finish();
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(toy.gradient(1, 0), 2 * 1.001f);
  EXPECT_EQ(toy.gradient(0, 0), 0);
}

// A table of 8 rows x 16, used first, and a weight. One step looks up rows, or uses the whole table, in one or several
// micro-batches; the gradient of a row is `seed` for each time it is looked up.
class ToyTable {
 public:
  using Rows = std::vector<std::int32_t>;

  explicit ToyTable(const Team& team, DType wire = DType::f32, bool sharded = false)
      : table_(store_.add({{"table", {8, 16}, 0}})), weight_(store_.add({{"weight", {32}, 0}})) {
    table_.is_embedding = true;
    store_.allocate();
    std::fill_n(store_.grad().data<float>(), store_.size(), 9.0f);
    partition_.emplace(store_.size(), team.rank(), team.size(), PartitionOptions{64, 256, sharded},
                       std::vector<optim::Interval>{{table_.offset, table_.arena_end()}});
    shared_ = SharedArenas::make(store_, team, false);
    reducer_.emplace(store_, team, *partition_, wire, std::vector<Parameter*>{&table_}, shared_.get());
  }

  // No rows at all: the table is not used; nullopt: all of it is.
  void step(const std::vector<std::optional<Rows>>& batches, float seed) {
    store_.zero_grad();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      Tape tape;
      Tensor one({}, DType::f32);
      if (!batches[i])
        tape.use(table_);
      else if (!batches[i]->empty())
        tape.use(table_, *batches[i]);
      const Var loss = tape.record(one, [&](const Tensor& dy) { add(batches[i], dy.item()); });
      if (i + 1 < batches.size())
        tape.backward(loss, seed);
      else
        reducer_->backward(tape, loss, seed);
    }
    reducer_->finish();
  }

  Parameter& table() { return table_; }

  std::vector<float> rows() const {
    std::vector<float> values;
    for (std::int64_t row = 0; row < 8; ++row) {
      const float* const data = table_.grad.slice(row, row + 1).data<float>();
      EXPECT_EQ(std::count(data, data + 16, data[0]), 16) << row;
      values.push_back(data[0]);
    }
    return values;
  }

 private:
  void add(const std::optional<Rows>& rows, float seed) {
    table_.begin_grad();
    if (!rows) table_.grad_rows.add_all();
    table_.grad_rows.add(rows.value_or(Rows()));
    for (const std::int32_t row : rows.value_or(Rows{0, 1, 2, 3, 4, 5, 6, 7}))
      for (int c = 0; c < 16; ++c) table_.grad.data<float>()[row * 16 + c] += seed;
  }

  ParameterStore store_;
  Parameter &table_, &weight_;
  std::optional<Partition> partition_;
  std::unique_ptr<SharedArenas> shared_;
  std::optional<GradientReducer> reducer_;
};

TEST(GradientReducerOfATable, SendsTheRowsThatSomeRankUsed) {
  const Notes notes = notes_of_first([](const Team& team, Notes&) {
    ToyTable toy(team);
    const bool is_first = team.is_first();
    toy.step({is_first ? ToyTable::Rows{1, 6, 1} : ToyTable::Rows{6, 0}}, 0.5f);
    EXPECT_EQ(toy.rows(), (std::vector<float>{0.5f, 1, 0, 0, 0, 0, 1, 0}));
    toy.step({is_first ? ToyTable::Rows{2} : ToyTable::Rows{3}}, 1);  // nothing is left of the other's rows
    EXPECT_EQ(toy.rows(), (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0}));
  });
  // Which rows; the weight, unused; the rows.
  EXPECT_EQ(notes, Notes({"all_reduce 8 uint8", "all_reduce 32 fp32", "all_reduce 48 fp32", "all_reduce 8 uint8",
                          "all_reduce 32 fp32", "all_reduce 32 fp32"}));
}

TEST(GradientReducerOfATable, CountsEveryMicroBatchAndRanksThatUseNoRow) {
  const auto train = [](const Team& team) {
    ToyTable toy(team);
    for (int step = 0; step < 2; ++step) {
      if (team.is_first())
        toy.step({ToyTable::Rows{7}, ToyTable::Rows{2}, ToyTable::Rows{7}}, 1);
      else
        toy.step({ToyTable::Rows{}, ToyTable::Rows{4}, ToyTable::Rows{}}, 1);
      EXPECT_EQ(toy.rows(), (std::vector<float>{0, 0, 1, 0, 1, 0, 0, 2}));
    }
    toy.step({ToyTable::Rows{}}, 1);  // nobody
    EXPECT_EQ(toy.rows(), std::vector<float>(8, 0));
    if (team.is_first())
      toy.step({ToyTable::Rows{5}}, 1);
    else
      toy.step({std::nullopt}, 1);
    EXPECT_EQ(toy.rows(), (std::vector<float>{1, 1, 1, 1, 1, 2, 1, 1}));
    toy.step({ToyTable::Rows{1}}, 1);
    EXPECT_EQ(toy.rows(), (std::vector<float>{0, 2, 0, 0, 0, 0, 0, 0}));
  };
  for (const bool shares_memory : {false, true}) run_team(2, train, shares_memory);
}

// A program that holds the array of gradients may write to any row after backward.
TEST(GradientReducerOfATable, AllRowsCountWhereOneRanksProgramHoldsTheGradient) {
  const auto train = [](const Team& team) {
    ToyTable toy(team);
    toy.table().grad_is_exposed = team.is_first();
    for (int step = 0; step < 2; ++step) {
      toy.step({ToyTable::Rows{1}}, 1);
      EXPECT_EQ(toy.rows(), (std::vector<float>{0, 2, 0, 0, 0, 0, 0, 0}));
      EXPECT_TRUE(toy.table().grad_rows.is_all());
      toy.table().grad.slice(6, 7).data<float>()[0] = 5;  // the next step must not see it
    }
  };
  for (const bool shares_memory : {false, true}) run_team(2, train, shares_memory);
}

TEST(GradientReducer, RanksThatShareMemorySendNothing) {
  std::vector<std::size_t> launched(2), bytes(2);
  const auto train = [&](const Team& team) {
    ToyParameters toy({16, 64, 32});
    const Partition partition(toy.store.size(), team.rank(), team.size(), kSmall);
    const auto shared = SharedArenas::make(toy.store, team, false);
    Notes notes;
    NotingGroup group(team.group(), notes);
    GradientReducer reducer(toy.store, team_of(group), partition, DType::f32, {}, shared.get());
    Tape tape;
    const Var loss = toy.forward(tape, static_cast<float>(team.rank()));
    reducer.backward(tape, loss, 0.5f);
    EXPECT_EQ(reducer.launched(), 0u);
    reducer.finish();
    EXPECT_TRUE(notes.empty());
    EXPECT_EQ(toy.gradient(1, 1), 0.5f * 2 * 3);
    launched[static_cast<std::size_t>(team.rank())] = reducer.launched();
    bytes[static_cast<std::size_t>(team.rank())] = reducer.launched_bytes();
  };
  run_team(2, train, true);
  EXPECT_EQ(launched, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(bytes, std::vector<std::size_t>(2, 112 * sizeof(float)));
}

TEST(GradientReducerOfATable, SendsAllOfATableThatOneRankUsesWhole) {
  const Notes notes = notes_of_first([](const Team& team, Notes&) {
    ToyTable toy(team);
    if (team.is_first())
      toy.step({ToyTable::Rows{5}}, 1);
    else
      toy.step({std::nullopt}, 1);
    EXPECT_EQ(toy.rows(), (std::vector<float>{1, 1, 1, 1, 1, 2, 1, 1}));
    toy.step({ToyTable::Rows{5}}, 1);
    EXPECT_EQ(toy.rows(), (std::vector<float>{0, 0, 0, 0, 0, 2, 0, 0}));
  });
  EXPECT_EQ(notes, Notes({"all_reduce 8 uint8", "all_reduce 32 fp32", "all_reduce 128 fp32", "all_reduce 8 uint8",
                          "all_reduce 32 fp32", "all_reduce 16 fp32"}));
}

TEST(GradientReducerOfATable, InBf16AndSharded) {
  for (const bool sharded : {false, true})
    run_team(2, [&](const Team& team) {
      ToyTable toy(team, DType::bf16, sharded);
      toy.step({team.is_first() ? ToyTable::Rows{0, 7} : ToyTable::Rows{7, 3}}, 1);
      EXPECT_EQ(toy.rows(), (std::vector<float>{1, 0, 0, 1, 0, 0, 0, 2}));
    });
}

TEST(GradientReducerOfATable, TakesWhatIsShorter) {
  notes_of_first([](const Team& team, const Notes& notes) {
    ToyTable toy(team, DType::f32, true);
    toy.step({ToyTable::Rows{0, 1, 2}}, 1);
    EXPECT_EQ(notes.back(), "all_reduce 48 fp32");
    toy.step({ToyTable::Rows{0, 1, 2, 3}}, 1);  // there and back
    EXPECT_EQ(notes.back(), "reduce_scatter 64 fp32");
  });
}

// Its offset in the arena of its own model may lie past the end of this one.
TEST(GradientReducer, RefusesAParameterOfAnotherModel) {
  ToyParameters toy({16}), other({16, 4096});
  const Partition partition(toy.store.size(), 0, 1, kSmall);
  GradientReducer reducer(toy.store, Team(), partition, DType::f32);
  Tape tape;
  toy.forward(tape, 1);
  const Var loss = other.forward(tape, 1);
  EXPECT_TRUE(contains(error_of([&] { reducer.backward(tape, loss, 1); }), ", a parameter of another model than"));
}

TEST(LargeTables, AreThoseOfWhichSendingSomeRowsPays) {
  ParameterStore store;
  for (const auto& [name, rows] : {std::pair{"words", 20000}, std::pair{"positions", 512}, std::pair{"weight", 20000}})
    store.add({{name, {rows, 64}, 0}}).is_embedding = std::string_view(name) != "weight";
  store.allocate();
  const std::vector<Parameter*> tables = large_tables(store);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0]->parts[0].name, "words");
}

}  // namespace
}  // namespace hearth::parallel
